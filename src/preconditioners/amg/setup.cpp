// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include "by_diagonals.hpp"
#include "core/blocks.hpp"
#include "dense.hpp"
#include "diagonal.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/entry.hpp"
#include "prolongation.hpp"
#include "rounding.hpp"

#include <furrow/storage.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace furrow::amg {
namespace {

constexpr double first_theta = 0.08, share_of_equal_couplings = 0.5, least_shrinking = 1.25, most_blocks_a_row = 80;
constexpr double most_fill_of_blocks = 1.3;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class T> host_array<T> copied(cview<T> v) {
  host_array<T> own(v.size);
  cpu::for_each_range(v.size, 1 << 15, [&](index_t first, index_t last) {
    std::copy(v.begin() + first, v.begin() + last, own.data() + first);
  });
  return own;
}
template <class W> rows<W> kept(row_view<double> a, double scale) {
  return {a.shape, copied(a.row_ptr), copied(a.col), rounded<W>(a.val, scale)};
}
template <class W> rows<W> kept(row_matrix<double>&& a) {
  auto values = rounded<W>(as_cview(a.val), 1);
  return {a.shape, std::move(a.row_ptr), std::move(a.col), std::move(values)};
}

/// The least and the largest diagonal entry; an entry that is missing or no number counts as 0.
struct diagonal_range {
  double least = std::numeric_limits<double>::infinity(), largest = 0;

  explicit diagonal_range(row_view<double> a) {
    const index_t parts = std::clamp<index_t>(a.shape.rows / (1 << 13), 1, cpu::thread_count());
    std::vector<std::pair<double, double>> of_part(static_cast<std::size_t>(parts), {least, largest});
    cpu::for_each_task(parts, [&](index_t part) {
      auto [low, high] = of_part[part];
      for (index_t i = cpu::part_begin(a.shape.rows, parts, part); i < cpu::part_begin(a.shape.rows, parts, part + 1);
           ++i) {
        double own = 0;
        for (index_t k = a.begin(i); k < a.end(i); ++k)
          if (a.col[k] == i && !std::isnan(a.val[k])) own = a.val[k];
        low = std::min(low, own), high = std::max(high, own);
      }
      of_part[part] = {low, high};
    });
    for (const auto& [low, high] : of_part) least = std::min(least, low), largest = std::max(largest, high);
  }
  bool is_positive() const { return least > 0 && std::isfinite(largest); }
  /// A power of two that brings the largest near 1.
  double scale() const { return largest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1; }
};

/// What makes a coupling strong on a level: 0.08, halved on each level; less where rows have many couplings, which when
/// they are all alike are 1 / (couplings of a row) each: half of that. Norms of blocks fall less with their number.
double theta_of(const node_matrix& m, std::size_t level) {
  const double usual = std::ldexp(first_theta, -static_cast<int>(level));
  const double couplings = double(m.a.nnz()) / double(m.a.shape.rows) - 1;
  return m.block == 1 && couplings > 0 ? std::min(usual, share_of_equal_couplings / couplings) : usual;
}

/// P of a level; empty where the level does not shrink.
row_matrix<double> coarsened(const node_matrix& m, const host_array<double>& inverse, double lambda, double theta,
                             bool smoothed) {
  const auto graph = strong_couplings(m, theta);
  const auto found = aggregates_of(graph, independent_at_distance_two(graph));
  if (found.count == 0 || double(found.count) * least_shrinking > double(m.nodes())) return {};
  return smoothed_prolongation(m, graph, found, inverse, smoothed ? 4 / (3 * lambda) : 0);
}

[[noreturn]] void refuse(std::size_t level) {
  throw refusal{status::not_positive_definite,
                level == 0 ? "a pivot of the matrix is negative, so it is not positive definite"
                           : fmt::format("level {} of the multigrid hierarchy, P'A P, is not positive definite, so A "
                                         "is not",
                                         level)};
}

} // namespace

int unknowns_of_a_node(row_view<double> a, cview<std::int32_t> row_of_entry) {
  const auto blocks = count_blocks(a.shape, row_of_entry, a.col);
  const auto fill = [&](int k) {
    const bool fits = a.shape.rows % k == 0 && blocks[k] > 0;
    return fits ? double(blocks[k]) * k * k / double(a.nnz()) : 1e300;
  };
  double least = 1e300;
  for (int k = 2; k <= 6; ++k) least = std::min(least, fill(k));
  if (least > most_fill_of_blocks) return 1;
  int best = 1;
  for (int k = 2; k <= 6; ++k)
    if (fill(k) <= 1.02 * least) best = k;
  return best;
}

template <class W> hierarchy<W> smoothed_aggregation(row_view<double> a, int block) {
  hierarchy<W> h;
  row_matrix<double> own;
  for (;;) {
    const double began = now();
    const diagonal_range diagonal(a);
    if (h.levels.empty()) h.scale = diagonal.scale();
    level<W> l;
    l.a.shape = a.shape;
    l.block = block;
    const bool small = a.shape.rows <= most_dense_rows;
    row_matrix<double> coarse;
    if (small) {
      const auto inverse = dense_inverse(a);
      if (!inverse) refuse(h.levels.size());
      h.coarsest = rounded<W>(as_cview(*inverse), 1 / h.scale);
      h.reason = fmt::format("{} rows are left: a dense inverse", a.shape.rows);
    } else {
      if (!diagonal.is_positive()) refuse(h.levels.size());
      const node_matrix m{a, block};
      const auto inverse = inverse_diagonal(m);
      l.lambda = largest_eigenvalue(m, inverse);
      const double theta = theta_of(m, h.levels.size());
      auto p = coarsened(m, inverse, l.lambda, theta, true);
      if (p.shape.cols > 0) {
        auto r = transposed(p.view());
        coarse = triple_product(r.view(), a, p.view());
        const double fill = double(coarse.nnz()) / double(coarse.shape.rows) / block;
        if (fill > most_blocks_a_row && coarse.shape.rows > most_dense_rows) {
          p = coarsened(m, inverse, l.lambda, theta, false);
          r = transposed(p.view());
          coarse = triple_product(r.view(), a, p.view());
        }
        l.p = kept<W>(std::move(p));
        l.r = kept<W>(std::move(r));
      } else h.reason = fmt::format("{} rows do not shrink any more: they are smoothed only", a.shape.rows);
      l.inverse = rounded<W>(as_cview(inverse), 1 / h.scale);
      if (block == 1) l.diagonals = by_diagonals<W>(a, h.scale);
      if (l.diagonals.offset.empty()) l.a = kept<W>(a, h.scale);
    }
    const double bytes = byte_count(l.a) + byte_count(l.diagonals) + byte_count(l.p) + byte_count(l.r) +
                         double(l.inverse.byte_count() + (small ? h.coarsest.byte_count() : 0)) +
                         5.0 * sizeof(W) * double(a.shape.rows);
    h.facts.push_back({a.shape.rows, a.nnz(), bytes, now() - began});
    h.levels.push_back(std::move(l));
    if (h.levels.back().last()) return h;
    own = std::move(coarse);
    a = own.view();
  }
}

template hierarchy<double> smoothed_aggregation(row_view<double>, int);
template hierarchy<float> smoothed_aggregation(row_view<double>, int);

} // namespace furrow::amg
