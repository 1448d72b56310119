// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bench/spmv/measure.hpp"
#include "output.hpp"

namespace furrow::cli::spmv_bench {

/// A file that could not be measured.
struct failure {
  std::string file, why;
};

/// Text, piece by piece as things happen.
std::string head_text(device where, double ceiling, bool rivals); ///< ceiling: of memory
std::string loaded_text(const outcome& o, bool check);
std::string row_text(const outcome& o, const product& m);
std::string skipped_text(const left_out& s);
/// Which was the best, and how good the choice of auto was.
std::string verdict_text(const outcome& o, const std::vector<precision>& values);
/// Geometric means over the matrices.
std::string summary_text(const std::vector<outcome>& all, const std::vector<precision>& values);

/// One matrix, with every number that `stats` has.
json json_of(const outcome& o, const std::vector<precision>& values);
json summary_json(const std::vector<outcome>& all, const std::vector<precision>& values);

/// Writes gflops_f64.svg, roofline_f64.svg and so on into the folder. The roofline has a roof of the memory's `ceiling`
/// and one of the fastest cache that a product was measured in.
void draw(const std::string& folder, const std::string& title, const std::vector<outcome>& all,
          const std::vector<precision>& values, double ceiling);

} // namespace furrow::cli::spmv_bench
