// SPDX-License-Identifier: BSD-3-Clause
#include "arranging.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "matrix/cuthill_mckee.hpp"
#include "matrix/matching.hpp"
#include "matrix/permute.hpp"
#include "preconditioners/stop.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

void check_names(const solve_options& o) {
  check(o.scale == "none" || o.scale == "symmetric" || o.scale == "matching", fault::usage,
        "there is no scaling '{}': choose one of none, symmetric, matching", o.scale);
  check(o.reorder == "none" || o.reorder == "rcm", fault::usage, "there is no order '{}': choose one of none, rcm",
        o.reorder);
}

template <class V> index_t farthest_from_diagonal(row_view<V> a) {
  index_t most = 0;
  for (index_t i = 0; i < a.shape.rows; ++i)
    if (a.begin(i) < a.end(i))
      most = std::max({most, i - a.col[a.begin(i)], a.col[a.end(i) - 1] - i}); // columns ascend
  return most;
}

std::string range_text(const host_array<double>& a, const host_array<double>& b) {
  double least = HUGE_VAL, most = 0;
  for (const auto* const scales : {&a, &b})
    for (const double s : *scales) least = std::min(least, s), most = std::max(most, s);
  return least <= most ? fmt::format("{:.1e} to {:.1e}", least, most) : "none";
}

/// Kept where products with elements of V stay in its range.
template <class V> void keep_in_range(host_array<double>& scales) {
  constexpr double most = is_wide<V> ? 1e150 : 1e15;
  for (double& s : scales) s = std::clamp(s, 1 / most, most);
}

/// Rows, scales and words of the matching.
template <class V> arrangement match_and_scale(row_view<V> a, std::string& about) {
  heavy_diagonal h = match_heavy_diagonal(a, [] { stops_set_up::at_row(0); });
  const index_t n = a.shape.rows;
  if (h.rank < n)
    throw refusal{status::singular,
                  fmt::format("the matrix is structurally singular, rank {} of {}, whatever its values: row {} has no "
                              "column of its own, so that matching finds no diagonal",
                              h.rank, n, h.unpaired + 1)};
  index_t moved = 0;
  for (index_t j = 0; j < n; ++j) moved += h.row_of[j] != j;
  keep_in_range<V>(h.row_scale), keep_in_range<V>(h.col_scale);
  about = fmt::format("matching: {} of {} {} places, scales {}", moved, counted(n, "row"),
                      moved == 1 ? "changes" : "change", range_text(h.row_scale, h.col_scale));
  return {std::move(h.row_of), {}, std::move(h.row_scale), std::move(h.col_scale)};
}

template <class V> arrangement scale_by_diagonal(row_view<V> a, bool definite, std::string& about) {
  host_array<double> s = symmetric_scaling(a, definite, "symmetric scaling", "matching, or none");
  keep_in_range<V>(s);
  about = fmt::format("symmetric: scales {}", range_text(s, s));
  host_array<double> again = s;
  return {{}, {}, std::move(s), std::move(again)};
}

/// Rows and columns in the order of their neighbours, behind what has moved already.
template <class V> void move_by_neighbours(row_view<V> a, arrangement& to, std::string& about) {
  const bool alone = to.row.empty();
  const auto matched = alone ? row_matrix<V>{} : arranged<V>(a, {host_array<std::int32_t>(to.row), {}, {}, {}});
  const row_view<V> now = alone ? a : matched.view();
  stops_set_up::at_row(0);
  const auto neighbours = neighbours_of(now);
  stops_set_up::at_row(0);
  const auto order = reverse_cuthill_mckee(neighbours);
  stops_set_up::at_row(0);
  host_array<std::int32_t> row(order.size());
  for (index_t i = 0; i < order.size(); ++i) row[i] = alone ? order[i] : to.row[order[i]];
  to.row = std::move(row);
  to.place = inverse_permutation(as_cview(order));
  about += fmt::format("{}rcm: the farthest entry from the diagonal was {} off", about.empty() ? "" : "; ",
                       counted(farthest_from_diagonal(now), "place"));
}

/// The scales by B's rows and columns, in V.
template <class V>
std::shared_ptr<const diagonal_scales<V>> moved_scales(const arrangement& to, const system_moves& m) {
  if (to.row_scale.empty()) return {};
  const index_t n = to.row_scale.size();
  auto s = std::make_shared<diagonal_scales<V>>(
      diagonal_scales<V>{host_array<V>(n), host_array<V>(n), std::ranges::equal(to.row_scale, to.col_scale)});
  for (index_t i = 0; i < n; ++i) {
    s->row[i] = static_cast<V>(to.row_scale[m ? index_t(m.row[i]) : i]);
    s->col[i] = static_cast<V>(to.col_scale[m ? index_t(m.column[i]) : i]);
  }
  return s;
}

system_moves moves_of(arrangement&& to) {
  if (to.row.empty()) return {};
  host_array<std::int32_t> column(to.row.size());
  for (index_t j = 0; j < column.size(); ++j)
    column[to.place.empty() ? j : index_t(to.place[j])] = static_cast<std::int32_t>(j);
  return {std::move(to.row), std::move(column)};
}

} // namespace

void check_arranging(const solve_options& o, const solver_entry* method) {
  check_names(o);
  check(o.reorder == "none" || !o.coordinates, fault::usage,
        "coordinates are of nodes whose rows follow each other, which rcm would part: leave one of them out");
  check(!moves(o) || o.precond.find(":starts=") == std::string::npos, fault::usage,
        "given blocks are of rows that follow each other, which {} would part: leave one of them out",
        o.reorder != "none" ? o.reorder : o.scale);
  if (!scales(o)) return;
  check(may_be_scaled(o.precond), fault::usage,
        "amg scales by the diagonal itself, and its coarse spaces are made for the matrix as it stands: leave the "
        "scaling out, or take another preconditioner");
  if (!method) return;
  check(!method->needs.transposed, fault::usage,
        "{} scales the columns itself, and rows cannot be scaled without another answer: leave the scaling out",
        method->name);
  check(!method->set_up.replaces_m(), fault::usage,
        "{} makes its preconditioner itself, which is not scaled by name: leave the scaling out", method->name);
  check(o.scale != "matching" || !(method->needs.a.symmetric || method->needs.m.symmetric), fault::usage,
        "{} needs a symmetric matrix, which matching does not leave: take symmetric scaling, or a solver for any "
        "matrix, bicgstab for one",
        method->name);
}

void refuse_arranging(const solve_options& o, std::string_view who) {
  check_names(o);
  check(!scales(o) && !moves(o), fault::usage, "{} the rows as they stand: leave {} out", who,
        scales(o) ? "scale" : "reorder");
}

double bytes_to_arrange(const solve_options& o, index_t rows, index_t nnz, precision p) {
  const double n = double(rows), entries = double(nnz), moved = (4 + bytes_of(p)) * entries + 8 * n;
  const double matching = o.scale == "matching" ? 8 * entries + 60 * n : 0;
  const double neighbours = o.reorder == "none" ? 0 : 12 * entries + 32 * n + (matching > 0 ? moved : 0);
  const double scaling = scales(o) ? 32 * n : 0;
  return scaling + std::max({matching, neighbours, moves(o) ? moved + 4 * entries : 0});
}

double bytes_of_scaled_triplets(const solve_options& o, index_t rows, index_t entries, precision p) {
  return scales(o) ? (8 + bytes_of(p)) * double(entries) + 4 * bytes_of(p) * double(rows) : 0;
}

template <class V> arranged_system<V> arrange(const coo<V>& a, const solve_options& o, bool definite) {
  const double takes = bytes_to_arrange(o, a.shape.rows, a.nnz(), precision_of<V>),
               there = double(available_host_memory());
  check(takes <= there, fault::memory,
        "scaling and ordering the matrix needs {:.3g} GB more memory, of which {:.3g} GB can be had", takes * 1e-9,
        there * 1e-9);
  const rows_of_triplets<V> rows(a);
  arrangement to;
  arranged_system<V> done;
  if (o.scale == "matching") to = match_and_scale(rows.view(), done.about);
  if (o.scale == "symmetric") to = scale_by_diagonal(rows.view(), definite, done.about);
  if (o.reorder != "none") move_by_neighbours(rows.view(), to, done.about);
  if (!moves(o)) {
    done.a = a;
  } else {
    row_matrix<V> b =
        arranged<V>(rows.view(), {host_array<std::int32_t>(to.row), host_array<std::int32_t>(to.place), {}, {}});
    if (o.reorder != "none") done.about += fmt::format(", and is {} now", farthest_from_diagonal(b.view()));
    done.a = to_triplets(std::move(b));
  }
  const arrangement scaled{{}, {}, std::move(to.row_scale), std::move(to.col_scale)};
  done.moves = moves_of(std::move(to));
  done.scales = moved_scales<V>(scaled, done.moves);
  return done;
}

template arranged_system<double> arrange(const coo<double>&, const solve_options&, bool);
template arranged_system<float> arrange(const coo<float>&, const solve_options&, bool);

} // namespace furrow
