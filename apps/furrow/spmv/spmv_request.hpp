// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "options.hpp"

#include "tune/timing.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace furrow::cli {

/// What a person asked `furrow spmv` for: y = alpha A x, or alpha A' x.
struct spmv_request {
  std::string file, format = "auto", kernel = "auto";
  std::string x, output;   ///< files; x empty: random
  std::string play, trace; ///< how a kernel is played, and where its picture goes
  double alpha = 1;
  bool transpose = false, ceiling = true;
  machine_options machine;
  device where;
  int repeat = 0;
  bool check = false, json = false, tune = false, sweep = false;
  double expected_products = std::numeric_limits<double>::infinity(); ///< products to come
};

struct spmv_result {
  std::string format, kernel;
  timing time;
  double bytes = 0, gflops = 0, gbps = 0;
  double ceiling_gbps = 0; ///< of reads of as many bytes; NaN where none was wanted
  std::optional<double> row_error;
  index_t spread = 0; ///< rows that an infinity in x reached without an entry there, with a reference

  double fraction() const { return gbps / ceiling_gbps; }
};

struct spmv_outcome {
  struct left_out {
    std::string format, why;
  };
  std::string name;
  shape2 shape;
  index_t nnz = 0;
  index_t rows_not_checked = 0; ///< by --check: they may leave the range
  bool none_checked() const { return rows_not_checked == shape.rows && shape.rows > 0; }
  std::string reason; ///< why this format, where one was chosen
  double transpose_seconds = 0;
  std::vector<spmv_result> results; ///< y is that of the first one
  std::vector<left_out> skipped;
};

std::string text_of(const spmv_request& request, const spmv_outcome& outcome);
std::string json_of(const spmv_request& request, const spmv_outcome& outcome);

} // namespace furrow::cli
