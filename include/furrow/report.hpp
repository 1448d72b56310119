// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/solve.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

/// What the models expect of a product with the matrix in one of its formats.
struct expected_product {
  std::string format, kernel;
  double seconds = 0;
};

/// What a report shows of a matrix. `solve` takes the matrix apart: look at it before.
struct matrix_sketch {
  shape2 shape;
  index_t nnz = 0;
  std::vector<std::pair<std::string, std::string>> facts; ///< "rows", "5 to 7 entries, ..."
  std::string picture;                                    ///< the places of the entries, SVG; empty: none
  std::string row_lengths;                                ///< how many rows have how many entries, the same
  std::vector<expected_product> expected;                 ///< each format by its fastest kernel, the fastest first
};

/// `measure`, a comparison with the transpose, and three passes over the entries; and what the models expect of
/// products on `options.where` with its `values`, none where that device is not here. Throws as `measure`.
matrix_sketch sketch(const coo<double>& a, const solve_options& options = {});

/// What a report says beside what the solver reports. Empty texts and unknown numbers (0, or no value) are left out.
struct report_context {
  matrix_sketch matrix;
  std::string name, origin;    ///< of the matrix
  std::string rhs, x0;         ///< where b and the first guess come from, in words
  std::optional<double> error; ///< max |x_i - exact|, where the answer is known
  double goal = 0;             ///< the relative residual that ends the solve
  double read_seconds = 0;
  double ceiling = 0;                                       ///< bytes a second that the machine reads at best
  std::string command;                                      ///< that gives the same answer again
  std::vector<std::pair<std::string, std::string>> machine; ///< "processor", its name; beside what the library knows
};

/// Adds the processor, the memory, and what the machine reads at best: measured in at most 0.2 s where there are
/// iterations to compare with.
void add_machine(report_context& c, const solve_report& r, device where);

/// The residual by iteration as an SVG picture, with the goal where it is above 0 and the residual that was recomputed;
/// empty where no residual was recorded.
std::string draw_convergence(const solve_report& r, double goal);

/// One file of HTML without script, style or picture from elsewhere, below 100 kB beside the names it is given: the
/// verdict, the residual by iteration and by second, the matrix, what was chosen and why, the speed, the time in its
/// parts, the estimates, the machine, the command, and the numbers once more as JSON. A script of its own, the only one
/// that the page lets run, tells the numbers below the pointer. All text from outside is escaped.
/// The same arguments, environment and number of threads give the same bytes.
std::string report_html(const solve_report& r, const solve_options& options, const report_context& context);

/// The same as a file, complete or not at all; `-` is standard output. Throws `fault::input` where the system refuses.
void write_report(const std::filesystem::path& file, const solve_report& r, const solve_options& options,
                  const report_context& context);

} // namespace furrow
