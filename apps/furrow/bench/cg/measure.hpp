// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/cg_tutorial/forms.hpp"

#include <furrow/formats.hpp>

#include <functional>
#include <string>
#include <vector>

namespace furrow::cli::cg_bench {

/// What to solve with every matrix, and how often.
struct plan {
  device where;
  precision values = precision::f64;
  std::string format = "auto", kernel = "auto";
  double rtol = 0; ///< 0: 1e-8, in f32 1e-4
  int turns = 5;
  std::function<double(double bytes)> ceiling{}; ///< bytes a second at which as many bytes are read at best

  double goal() const { return rtol > 0 ? rtol : values == precision::f64 ? 1e-8 : 1e-4; }
};

/// A form of conjugate gradients, measured.
struct measured_form {
  const cg_form_entry* form = nullptr;
  bool is_cg = false;          ///< what `--solver cg` runs on the device
  solve_report report;         ///< of the last turn; all have the same bits
  std::vector<double> seconds; ///< of a whole solve, a turn each
  double ceiling = 0;          ///< NaN: not measured

  double median() const;
  double iteration() const { return median() / double(std::max<index_t>(report.iterations, 1)); } ///< seconds
  double gbps() const { return 1e-9 * report.bytes_per_iteration / iteration(); }
  double fraction() const { return 1e9 * gbps() / ceiling; }
  /// Of the whole solve, to iterations.
  double waits() const { return double(report.waits) / double(std::max<index_t>(report.iterations, 1)); }
};

struct left_out {
  const cg_form_entry* form = nullptr;
  std::string why;
};

/// A matrix in all forms, in their order.
struct outcome {
  std::string name, format, kernel;
  stats s;
  precision values = precision::f64;
  std::vector<measured_form> forms;
  std::vector<left_out> skipped;

  const measured_form& tutorial() const { return forms.front(); }
  const measured_form& cg() const;
};

/// Solves A x = b, b = A x for an x drawn at random, in all forms once to warm up and then in turns. Throws
/// `fault::input` for a matrix that is not symmetric, errors as `load`, `choose` and `make`.
outcome measure_matrix(const std::string& file, const plan& p);

} // namespace furrow::cli::cg_bench
