// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bench/spmv/measure.hpp"

#include "tune/summary.hpp"

#include <map>

namespace furrow::cli::spmv_bench {

/// What all matrices say together, in one precision. Ratios are times: above 1 the one named first is faster.
struct summary {
  ratio_summary auto_to_best;  ///< time of the best of ours / time of what auto chose: at most 1
  ratio_summary tuned_to_best; ///< the same of what tuning chose; no matrix where it was not asked
  std::map<std::string, ratio_summary> format_to_csr; ///< time of csr / time of the format, each in its fastest kernel
  std::map<std::string, ratio_summary> auto_to_rival; ///< time of the rival / time of what auto chose
  std::map<std::string, ratio_summary> best_to_rival; ///< time of the rival / time of the best of ours
  std::map<std::string, int> wins;                    ///< matrices for which a format is the best
};

summary summarize(const std::vector<outcome>& all, precision values);

} // namespace furrow::cli::spmv_bench
