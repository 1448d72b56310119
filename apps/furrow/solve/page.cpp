// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/machine.hpp"
#include "memory.hpp"
#include "solve_request.hpp"

#include "core/units.hpp"
#include "tune/ceiling.hpp"

#include <fmt/format.h>

namespace furrow::cli {
namespace {

std::string rhs_text(const std::string& rhs) {
  if (rhs == "ones") return "A times ones: the answer is known";
  if (rhs == "random") return "A times a random vector";
  return rhs == "stored" ? "came with the matrix" : rhs;
}

} // namespace

report_context context_of(const solve_request& request, const solve_outcome& o, matrix_sketch matrix) {
  report_context c;
  c.matrix = std::move(matrix);
  c.name = o.name;
  c.origin = o.origin;
  c.rhs = rhs_text(o.rhs);
  c.x0 = request.x0.empty() ? "zero" : request.x0;
  c.error = o.error;
  c.goal = o.goal;
  c.read_seconds = o.read_seconds;
  if (o.report.iterations > 0) c.ceiling = measure_read_ceiling(request.options.where, o.report.bytes_per_iteration);
  c.command = request.command;
  c.machine = {{"processor", inspect_processor().name},
               {"memory", bytes_text(total_memory())},
               {"memory taken at the peak", bytes_text(peak_bytes())}};
  return c;
}

} // namespace furrow::cli
