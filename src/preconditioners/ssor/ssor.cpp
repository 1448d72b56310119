// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters.hpp"
#include "matrix/colouring.hpp"
#include "preconditioners/incomplete_lu.hpp"
#include "preconditioners/stop.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::ssor_preconditioner {
namespace {

double omega_from(std::string_view text) {
  const entry_parameters p("ssor[:OMEGA]", text);
  const double omega = p.number(0, 1, 0, 2);
  if (!(omega > 0 && omega < 2)) p.refuse("OMEGA lies between 0 and 2, without them");
  return omega;
}

/// omega times the entries of B on one side of its diagonal.
template <class V> row_matrix<V> one_side(row_view<double> b, triangle side, double omega) {
  const index_t n = b.shape.rows;
  row_matrix<V> part{b.shape, host_array<index_t>(n + 1), {}, {}};
  const auto walk = [&](auto take) {
    index_t next = 0;
    for (index_t i = 0; i < n; ++i) {
      part.row_ptr[i] = next;
      for (index_t k = b.begin(i); k < b.end(i); ++k)
        if (side == triangle::lower ? b.col[k] < i : b.col[k] > i) take(k, next++);
    }
    part.row_ptr[n] = next;
  };
  walk([](index_t, index_t) {});
  part.col.resize(part.row_ptr[n]);
  part.val.resize(part.row_ptr[n]);
  walk([&](index_t k, index_t to) {
    part.col[to] = b.col[k];
    part.val[to] = static_cast<V>(omega * b.val[k]);
  });
  if (!std::ranges::all_of(part.val, [](V v) { return std::isfinite(v); }))
    throw refusal{status::breakdown, "ssor overflows: entries are too large beside their diagonal; scale the matrix"};
  return part;
}

/// M = omega (2 - omega) (D + omega U)^-1 D (D + omega L)^-1, L + D + U = A with its rows by colours. Kept as
///
///   M r = omega (2 - omega) S (I + omega U_B)^-1 (I + omega L_B)^-1 T r,   B = T A S, S = |D|^-1/2, T = sign(D) S
///
/// two unit triangles that are level by level what the colours are. Where M must be definite T is S, that is, |D| takes
/// the place of D, and M is definite whatever A is.
template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  const double omega = omega_from(text);
  const rows_of_triplets<V> rows(a);
  const auto scale = symmetric_scaling(rows.view(), needed.a.definite, "ssor");
  stops_set_up::at_row(0);
  const adjacency neighbours = neighbours_of(rows.view());
  stops_set_up::at_row(0);
  const colouring colours = colour_greedily(neighbours);
  stops_set_up::at_row(0);
  auto order = order_by_colours(colours);
  auto place = inverse_permutation(as_cview(order));
  arrangement moved{std::move(order), std::move(place), scale, scale};
  if (!needed.m.definite)
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] == a.col[k] && a.val[k] < 0) moved.row_scale[a.row[k]] *= -1;
  const row_matrix<double> b = arranged(rows.view(), moved);
  stops_set_up::at_row(0);
  for (double& s : moved.col_scale) s *= omega * (2 - omega);
  auto lower = one_side<V>(b.view(), triangle::lower, omega), upper = one_side<V>(b.view(), triangle::upper, omega);
  stops_set_up::at_row(0);
  auto about = fmt::format("ssor:{:g}: {} {}", omega, colours.colours, colours.colours == 1 ? "colour" : "colours");
  return make_factored<V>({std::move(lower), std::move(upper), {}, {}, std::move(moved), std::move(about)}, where);
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  omega_from(text);
  const double n = double(s.shape.rows), nnz = double(s.nnz);
  const double arrangement = 2 * 4 + 2 * 8, triangles = 2 * (8 + 4), work = 2 * bytes_of(p);
  const double kept = (4 + bytes_of(p)) * nnz + n * (arrangement + triangles + work);
  return {kept, kept + 12 * nnz + 40 * n, false};
}

} // namespace

extern const preconditioner_entry entry{"ssor",       "symmetric successive over-relaxation, rows by colours",
                                        {true, true}, lay_out,
                                        make<double>, make<float>,
                                        "[:OMEGA]"};

} // namespace furrow::ssor_preconditioner
