// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bench/spmv/measure.hpp"
#include "figures.hpp"
#include "output.hpp"

#include <string>
#include <vector>

namespace furrow::cli::paper_bench {

/// A kernel of the paper beside the same on this machine.
struct comparison {
  const method* what = nullptr;
  precision values = precision::f64;
  double then = 0, now = 0; ///< GFLOP/s; 0: the kernel is not on this device, or does not serve the matrix
  std::string kernel;
};

/// A matrix of the paper, measured here.
struct compared {
  const suite* of = nullptr;
  const subject* it = nullptr;
  bool stand_in = false;
  std::vector<comparison> rows;
  struct choice {
    precision values;
    std::string format, kernel;
    double now;
  };
  std::vector<choice> chosen; ///< by "auto", for each precision

  /// "QCD", with a word where it is a stand-in.
  std::string label() const { return std::string(it->name) + (stand_in ? " (stand-in)" : ""); }
};

compared compare(const suite& s, const subject& it, bool stand_in, const spmv_bench::outcome& o,
                 const std::vector<precision>& values, bool gpu);
std::string text_of(const compared& c, const spmv_bench::outcome& o, const std::vector<precision>& values,
                    double ceiling_gbps);
json json_of(const compared& c, double ceiling_gbps);

/// Two pictures for each suite and precision into `folder`: the paper's bars beside this machine's, in GFLOP/s, and in
/// GFLOP/s for each GB/s of the memory (the peak of the paper's device, the ceiling of this one).
void draw(const std::string& folder, const std::string& machine, const std::vector<compared>& all,
          const std::vector<precision>& values, double ceiling_gbps);

} // namespace furrow::cli::paper_bench
