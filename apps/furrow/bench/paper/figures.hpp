// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <span>
#include <string_view>

/// The figures of N. Bell and M. Garland, Efficient sparse matrix-vector multiplication on CUDA, NVIDIA technical
/// report NVR-2008-004, 2008: GFLOP/s on a GTX 280, x through the texture cache. Read off the paper's charts, good to
/// about two digits.
namespace furrow::cli::paper_bench {

inline constexpr std::string_view device_of_the_paper = "GTX 280";
inline constexpr double bandwidth_of_the_paper = 141.7; ///< GB/s, the peak of its memory

/// A kernel of the paper, and what it is called here: "hyb:bell_garland" is HYB by the paper's rule. On the CPU the
/// same format a row at a time; empty: nothing there is like it.
struct method {
  std::string_view name, format, gpu_kernel, cpu_kernel;
  std::string_view kernel(bool gpu) const { return gpu ? gpu_kernel : cpu_kernel; }
};

struct speed {
  double f32 = 0, f64 = 0; ///< GFLOP/s
};

/// A matrix of the paper with one speed for each method of its suite.
struct subject {
  std::string_view name; ///< in the paper
  /// What the SuiteSparse collection calls it ("dense2" is not there: it is that of Williams's matrices, as the paper
  /// has it); empty for a grid, which the generator makes.
  std::string_view file;
  std::string_view stand_in; ///< a generator of about the same rows, entries and shape
  std::array<speed, 5> speeds{};
};

struct suite {
  std::string_view name, short_name; ///< for people, and in the name of a picture
  std::span<const method> methods;
  std::span<const subject> subjects;
};
std::span<const suite> suites();

} // namespace furrow::cli::paper_bench
