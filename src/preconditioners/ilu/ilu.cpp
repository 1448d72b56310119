// SPDX-License-Identifier: BSD-3-Clause
#include "levels.hpp"

#include "preconditioners/incomplete_lu.hpp"
#include "preconditioners/swept_factors.hpp"

#include <fmt/format.h>

namespace furrow::ilu_preconditioner {
namespace {

constexpr index_t most_levels = 100;

entry_parameters taken_apart(std::string_view text) { return {"ilu[:LEVEL[:ORDER]][:sweeps=K]", text}; }

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs) {
  const entry_parameters p = taken_apart(text);
  const index_t level = p.whole(0, 0, 0, most_levels);
  return make_incomplete_lu<V>(
      a, fmt::format("ilu:{}", level), order_from(p, 1),
      [level](row_view<double> b, double shift) { return factorise_by_levels(b, level, shift); },
      p.whole("sweeps", 0, 1, most_sweeps), where);
}

/// Each level is taken to add as many entries as A has: right for level 0, a guess from grids beyond.
preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const entry_parameters parameters = taken_apart(text);
  const double level = double(parameters.whole(0, 0, 0, most_levels));
  order_from(parameters, 1);
  return layout_of_incomplete_lu(s, p, (1 + level) * double(s.nnz) + double(s.shape.rows),
                                 parameters.whole("sweeps", 0, 1, most_sweeps));
}

} // namespace

extern const preconditioner_entry entry{
    .name = "ilu",
    .about = "incomplete LU factors, rows matched to columns where the diagonal is weak; K sweeps replace solves",
    .lay_out = lay_out,
    .f64 = make<double>,
    .f32 = make<float>,
    .parameters = "[:LEVEL[:ORDER]][:sweeps=K]",
    .by_levels = true};

} // namespace furrow::ilu_preconditioner
