// SPDX-License-Identifier: BSD-3-Clause
#include "candidate.hpp"

#include "solve/ladder.hpp"
#include "solve/memory.hpp"
#include "solve/run.hpp"

#include "core/row_sum.hpp"
#include "core/symmetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace furrow::small_systems {
namespace {

/// What the choice of a method, a limit and a bound of rounding take from full statistics.
template <class V> stats few_stats(const coo<V>& a) {
  stats s;
  s.shape = a.shape, s.nnz = a.nnz();
  std::vector<bool> seen(static_cast<std::size_t>(a.shape.rows + a.shape.cols), false);
  for (index_t k = 0; k < a.nnz();) {
    const std::int32_t row = a.row[k];
    const index_t first = k;
    row_sum sum;
    for (; k < a.nnz() && a.row[k] == row; ++k) {
      sum.add(std::abs(double(a.val[k])));
      s.finite = s.finite && std::isfinite(a.val[k]);
      seen[static_cast<std::size_t>(a.col[k] - row + a.shape.rows)] = true;
    }
    s.row_max = std::max(s.row_max, k - first);
    s.norm_inf = std::max(s.norm_inf, sum.total());
  }
  s.diagonals = std::ranges::count(seen, true);
  return s;
}

/// The diagonal as a preconditioner and a message look at it.
struct diagonal_look {
  bool positive = true, invertible = true, any_positive = false, any_negative = false;
};
template <class V> diagonal_look look_at_diagonal(const coo<V>& a) {
  diagonal_look l;
  index_t found = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.row[k] != a.col[k]) continue;
    const V d = a.val[k];
    ++found;
    l.positive = l.positive && d > 0, l.invertible = l.invertible && d != 0 && std::isfinite(V(1) / d);
    l.any_positive = l.any_positive || d > 0, l.any_negative = l.any_negative || d < 0;
  }
  if (found < a.shape.rows) l.positive = l.invertible = false;
  return l;
}

/// The method that a solve by itself would begin with; or why it is none of ours.
template <class V> std::string choose_method(candidate<V>& c, const stats& s, const solve_options& o) {
  const coo<V>& a = c.given.a;
  if (o.solver != "auto") {
    c.by = o.solver == "cg" ? method::cg : method::bicgstab;
    if (c.by == method::cg && !o.assume_symmetric && !is_symmetric(a)) return "it is not symmetric";
    return {};
  }
  c.found = features_of(a, s, o.assume_symmetric);
  c.given.negated = c.found->symmetric && c.found->negative_only();
  if (c.given.negated) c.found->negative_diagonal = 0;
  const inventory there = inventory_of(o.where, s, precision_of<V>);
  c.plans = o.precond == "auto" ? rungs_for(*c.found, there) : rungs_with(o.precond, *c.found, there);
  const rung_plan& first = c.plans.front();
  const bool cg = off_chip(first.solver) == "cg";
  if (!(cg || off_chip(first.solver) == "bicgstab") || !(first.precond == "jacobi" || first.precond == "none"))
    return fmt::format("auto begins with {} and {}", first.solver, first.precond);
  c.by = cg ? method::cg : method::bicgstab;
  return {};
}

/// The kernel that it fits; nothing where it fits none.
template <class V> std::optional<launch_shape> shape_for(const candidate<V>& c, bool diagonal, const chip& there) {
  const index_t rows = c.given.a.shape.rows, entries = c.given.a.nnz();
  launch_shape s{.by = c.by, .threads = threads_for(rows)};
  for (const bool inside : {true, false}) {
    const index_t bytes = shared_bytes(c.by, diagonal, inside, rows, entries, sizeof(V));
    if (bytes > there.block_bytes) continue;
    s.inside = inside, s.bytes = static_cast<int>(bytes);
    return s;
  }
  return {};
}

template <class V> void set_facts(candidate<V>& c, const stats& s, const solve_options& o) {
  facts& f = c.given.about;
  const bool symmetric = c.found ? c.found->symmetric : c.by == method::cg;
  f.rows = static_cast<std::int32_t>(s.shape.rows), f.entries = static_cast<std::int32_t>(s.nnz);
  f.longest_row = static_cast<std::int32_t>(s.row_max);
  f.lanes = lanes_for(s.shape.rows, s.nnz, c.shape.threads);
  f.norm_inf = s.norm_inf;
  f.norm_2 = symmetric ? s.norm_inf : std::sqrt(s.norm_inf) * std::sqrt(largest_column_sum(c.given.a));
  f.rtol = o.rtol, f.atol = o.atol;
  f.steps = double(o.max_iterations > 0 ? o.max_iterations : std::max<index_t>(10 * s.shape.rows, 10000));
  f.outlook = double(c.plans.empty() ? o.outlook : c.plans.front().outlook);
}

template <class V> std::string wrong_vectors(shape2 a, cview<V> b, view<V> x) {
  if (b.size != a.rows || x.size != a.cols || !b.data || !x.data || overlap(as_cview(x), b))
    return "its vectors do not fit";
  if (!not_finite(b, "b").empty() || !not_finite(as_cview(x), "x").empty()) return "its vectors are not finite";
  return {};
}

} // namespace

std::string why_alone(const solve_options& o, bool doubles) {
  if (o.solver != "auto" && o.solver != "cg" && o.solver != "bicgstab")
    return fmt::format("{} is not among the solvers of a launch", o.solver);
  if (o.precond != "auto" && o.precond != "jacobi" && o.precond != "none")
    return fmt::format("{} is not among the preconditioners of a launch", o.precond);
  if (o.format != "auto" || o.kernel != "auto") return "a format or a kernel is named";
  if (o.tune) return "it is to be tuned";
  if (o.monitor) return "a monitor wants its x";
  if (o.watch_every > 0) return "a watcher wants single steps";
  if (o.values == precision::f32 && doubles) return "doubles are solved in single precision";
  return {};
}

bool scales_rows(const solve_options& o) { return o.precond != "none"; }

template <class V>
std::variant<candidate<V>, std::string> look(coo<V> a, cview<V> b, view<V> x, const solve_options& o,
                                             const chip& there) {
  const shape2 shape = a.shape;
  if (shape.rows != shape.cols) return "it is not square";
  if (shape.rows == 0) return "it has no rows";
  if (shape.rows > most_rows || a.nnz() > std::numeric_limits<std::int32_t>::max())
    return fmt::format("{} rows with {} entries are too many for a block", shape.rows, a.nnz());
  if (auto wrong = wrong_vectors(shape, b, x); !wrong.empty()) return wrong;
  const stats s = few_stats(a);
  if (!s.finite) return "its matrix is not finite";
  candidate<V> c;
  c.given.a = std::move(a), c.given.b = b, c.given.x = as_cview(x);
  if (auto other = choose_method(c, s, o); !other.empty()) return other;
  const diagonal_look d = look_at_diagonal(c.given.a);
  const bool fine = c.by == method::bicgstab || d.positive || (c.given.negated && !d.any_positive);
  if (scales_rows(o) && !(d.invertible && fine)) return "jacobi refuses its diagonal";
  c.opposite = !scales_rows(o) && d.any_negative && !d.any_positive;
  c.zero = std::ranges::all_of(b, [](V v) { return v == V(0); });
  if (!c.zero && needs_scale(b)) return "the squares of b leave the range of its numbers";
  const auto fits = shape_for(c, scales_rows(o), there);
  if (!fits)
    return fmt::format("{} rows take more than the {} KB of shared memory that a block has", shape.rows,
                       there.block_bytes / 1024);
  c.shape = *fits;
  set_facts(c, s, o);
  return c;
}

#define FURROW_LOOK(V)                                                                                                 \
  template std::variant<candidate<V>, std::string> look(coo<V>, cview<V>, view<V>, const solve_options&, const chip&);
FURROW_LOOK(double)
FURROW_LOOK(float)
#undef FURROW_LOOK

} // namespace furrow::small_systems
