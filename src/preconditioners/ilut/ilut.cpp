// SPDX-License-Identifier: BSD-3-Clause
#include "threshold.hpp"

#include "preconditioners/incomplete_lu.hpp"
#include "preconditioners/swept_factors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::ilut_preconditioner {
namespace {

struct request {
  index_t fill;
  double drop;
  elimination_order order;
  index_t sweeps; ///< 0: exact solves
};

request taken_apart(std::string_view text) {
  const entry_parameters p("ilut[:FILL[:DROP[:ORDER]]][:sweeps=K]", text);
  return {p.whole(0, 10, 0, 100000), p.number(1, 1e-3, 0, 1), order_from(p, 2), p.whole("sweeps", 0, 1, most_sweeps)};
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs) {
  const request q = taken_apart(text);
  return make_incomplete_lu<V>(
      a, fmt::format("ilut:{}:{:g}", q.fill, q.drop), q.order,
      [q](row_view<double> b, double shift) { return factorise_by_threshold(b, q.fill, q.drop, shift); }, q.sweeps,
      where);
}

/// As much fill as is allowed; mostly much of it is dropped.
preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const request q = taken_apart(text);
  const double n = double(s.shape.rows), beside = std::min(double(q.fill), n);
  return layout_of_incomplete_lu(s, p, double(s.nnz) + n + 2 * beside * n, q.sweeps);
}

} // namespace

extern const preconditioner_entry entry{
    .name = "ilut",
    .about = "incomplete LU factors by size of entry, rows matched likewise; K sweeps replace solves",
    .lay_out = lay_out,
    .f64 = make<double>,
    .f32 = make<float>,
    .parameters = "[:FILL[:DROP[:ORDER]]][:sweeps=K]",
    .by_levels = true};

} // namespace furrow::ilut_preconditioner
