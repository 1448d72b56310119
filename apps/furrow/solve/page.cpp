// SPDX-License-Identifier: BSD-3-Clause
#include "solve_request.hpp"

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
  c.command = request.command;
  add_machine(c, o.report, request.options.where);
  if (!o.parts.empty()) c.machine.emplace_back("ranks", who_ranks_are(request, o));
  return c;
}

} // namespace furrow::cli
