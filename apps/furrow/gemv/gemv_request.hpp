// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/gemv.hpp>

#include <optional>
#include <string>
#include <vector>

namespace furrow::cli {

/// What a person asked `furrow gemv` for.
struct gemv_request {
  std::string shape_text, op = "n", layout = "row", type = "f64", kernel = "auto", where_text = "auto";
  std::string play, trace; ///< how a kernel is played, and where its picture goes
  shape2 shape;
  device where;
  int vectors = 1, repeat = 0, thread_count = 0;
  bool check = false, json = false, ceiling = true;
};

struct gemv_result {
  std::string kernel;
  double seconds = 0, gbps = 0;
  std::optional<double> row_error;
};

struct gemv_outcome {
  double ceiling_gbps = 0; ///< of reads of as many bytes; NaN where none was wanted
  double bytes = 0;
  std::vector<gemv_result> results;
};

/// "4096x4096". Throws `fault::usage` for what is no shape.
shape2 parse_shape(const std::string& text);

/// Runs the kernels that were asked for.
gemv_outcome measure_gemv(const gemv_request& q);

/// `furrow gemv --device play`: the tutorial's kernels without a GPU, with what they read.
int run_played(gemv_request& q);

/// "4096x4096  y = A x, f64, row-major, 1 vector: 134 MB"
std::string headline(const gemv_request& q, double bytes);
std::string text_of(const gemv_request& q, const gemv_outcome& o);
std::string json_of(const gemv_request& q, const gemv_outcome& o);

} // namespace furrow::cli
