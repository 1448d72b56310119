// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/report.hpp"

#include <furrow/coo.hpp>
#include <furrow/value.hpp>

#include <span>
#include <string_view>

/// Formats whose classic kernels can be played: one play.cpp in the folder of each.
namespace furrow::play {

/// y <- alpha A x + beta y, alpha != 0; `parameters` as those of a format.
template <class V> struct task {
  const coo<V>& a;
  std::string_view parameters;
  V alpha;
  cview<V> x;
  V beta;
  view<V> y;
};

/// Plays the kernels of a product, one report a kernel. Their bits are those of the GPU.
template <class V>
using play_product = std::vector<kernel_report> (*)(const task<V>&, std::string_view kernel, const settings&);

struct played_format {
  std::string_view format;
  std::span<const std::string_view> kernels; ///< the first one is what "auto" stands for
  play_product<double> f64;
  play_product<float> f32;

  template <class V> play_product<V> product() const { return for_value<V>(f64, f32); }
};

/// All of them, sorted by name.
std::span<const played_format* const> played_formats();

/// The format of that name and its kernel, with what follows its name, as long as `kernel` lives; "auto" for the first
/// one of csr or of the format. Throws `fault::usage`, naming the classic kernels, where it is none of them, and for
/// numbers that it cannot have.
struct played_choice {
  const played_format* format;
  std::string_view kernel;
};
played_choice find_played(std::string_view format, std::string_view kernel);

} // namespace furrow::play
