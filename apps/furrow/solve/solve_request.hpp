// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "options.hpp"
#include "output.hpp"

#include <furrow/report.hpp>
#include <furrow/solve.hpp>

#include <optional>
#include <string>
#include <vector>

namespace furrow::cli {

/// What a person asked `furrow solve` for.
struct solve_request {
  std::string file, rhs, x0, coordinates, output, history, plot, report;
  std::string play, trace; ///< of --device play
  std::string command;     ///< the whole of it, as a shell takes it
  machine_options machine;
  solve_options options;
  bool json = false, explain = false;
};

/// What came out.
struct solve_outcome {
  solve_report report; ///< of the worst right-hand side
  shape2 shape;
  index_t nnz = 0;
  std::string name, origin, rhs; ///< rhs: "ones", "random", "stored" or a file
  std::optional<double> error;   ///< max |x_i - 1| where b = A * ones and A is square
  double goal = 0;               ///< the relative residual that ends the solve
  double read_seconds = 0, estimated_bytes = 0;
  int exit_code = 0;
  std::vector<solve_report> columns{};         ///< of each right-hand side, where there are several
  double setup_seconds = 0, solve_seconds = 0; ///< of all of them
  std::vector<setup_part> setup_parts{};       ///< of the first one, which sets up for all
};

/// The reports of several right-hand sides: a line for each, and an object for each.
std::string columns_text(const solve_outcome& outcome);
json columns_json(const solve_outcome& outcome);

/// The report for a person, and the object for a program.
std::string text_of(const solve_request& request, const solve_outcome& outcome);
std::string json_of(const solve_request& request, const solve_outcome& outcome);
/// The curve of the residuals as an SVG picture, with the goal and the verdict.
std::string plot_of(const solve_request& request, const solve_outcome& outcome);
/// What --report says beside the report of the solver.
report_context context_of(const solve_request& request, const solve_outcome& outcome, matrix_sketch matrix);

} // namespace furrow::cli
