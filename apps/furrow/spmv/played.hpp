// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "played_text.hpp"
#include "spmv_request.hpp"

namespace furrow::cli {

/// `furrow spmv --device play`: the classic kernels without a GPU, with what they read.
int run_played(const spmv_request& request);

struct played_outcome {
  std::string name;
  shape2 shape;
  index_t nnz = 0;
  play::settings how;
  std::vector<played_result> results;
};
std::string text_of(const spmv_request& request, const played_outcome& outcome);
std::string json_of(const spmv_request& request, const played_outcome& outcome);

} // namespace furrow::cli
