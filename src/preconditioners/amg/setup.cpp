// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include "by_diagonals.hpp"
#include "core/blocks.hpp"
#include "diagonal.hpp"
#include "levels.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "prolongation.hpp"
#include "rounding.hpp"

#include <furrow/storage.hpp>

#include <limits>
#include <utility>

namespace furrow::amg {
namespace {

constexpr double most_fill_of_blocks = 1.3;

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

diagonal_extremes extremes_of_diagonal(row_view<double> a) {
  const diagonal_extremes none{std::numeric_limits<double>::infinity(), 0};
  const index_t parts = std::clamp<index_t>(a.shape.rows / (1 << 13), 1, cpu::thread_count());
  std::vector<diagonal_extremes> of_part(static_cast<std::size_t>(parts), none);
  cpu::for_each_task(parts, [&](index_t part) {
    auto [low, high] = none;
    for (index_t i = cpu::part_begin(a.shape.rows, parts, part); i < cpu::part_begin(a.shape.rows, parts, part + 1);
         ++i) {
      double own = 0;
      for (index_t k = a.begin(i); k < a.end(i); ++k)
        if (a.col[k] == i && !std::isnan(a.val[k])) own = a.val[k];
      low = std::min(low, own), high = std::max(high, own);
    }
    of_part[part] = {low, high};
  });
  diagonal_extremes all = none;
  for (const auto& [low, high] : of_part) all = {std::min(all.least, low), std::max(all.largest, high)};
  return all;
}

/// P of a level; empty where the level does not shrink.
row_matrix<double> coarsened(const node_matrix& m, const host_array<double>& inverse, double lambda, double theta,
                             bool smoothed) {
  const auto graph = strong_couplings(m, theta);
  const auto found = aggregates_of(graph, independent_at_distance_two(graph));
  if (found.count == 0 || double(found.count) * least_shrinking > double(m.nodes())) return {};
  return smoothed_prolongation(m, graph, found, inverse, smoothed ? 4 / (3 * lambda) : 0);
}

/// See build_levels.
class host_kit {
public:
  host_kit(row_view<double> a, int block) : m_{a, block} {}

  shape2 shape() const { return m_.a.shape; }
  index_t entries() const { return m_.a.nnz(); }
  int block() const { return m_.block; }
  diagonal_extremes extremes() const { return extremes_of_diagonal(m_.a); }
  auto dense_inverse() const { return amg::dense_inverse(m_.a); }
  double look() {
    inverse_ = inverse_diagonal(m_);
    return lambda_ = largest_eigenvalue(m_, inverse_);
  }
  bool coarsen(double theta, bool smoothed) {
    p_ = coarsened(m_, inverse_, lambda_, theta, smoothed);
    if (p_.shape.cols == 0) return false;
    r_ = transposed(p_.view());
    coarse_ = triple_product(r_.view(), m_.a, p_.view());
    return true;
  }
  shape2 coarse() const { return coarse_.shape; }
  index_t coarse_entries() const { return coarse_.nnz(); }
  template <class W> void keep(level<W>& l, double scale) {
    l.p = kept<W>(std::exchange(p_, {}));
    l.r = kept<W>(std::exchange(r_, {}));
    l.inverse = rounded<W>(as_cview(inverse_), 1 / scale);
    if (m_.block == 1) l.diagonals = by_diagonals<W>(m_.a, scale);
    if (!l.by_diagonals()) l.a = kept<W>(m_.a, scale);
  }
  template <class W> host_array<W> keep_dense(const host_array<double>& t, double scale) {
    return rounded<W>(as_cview(t), scale);
  }
  void go_down() {
    own_ = std::exchange(coarse_, {});
    m_.a = own_.view();
  }

private:
  node_matrix m_;
  row_matrix<double> own_, p_, r_, coarse_; ///< own: the matrix of a level below the first
  host_array<double> inverse_;
  double lambda_ = 1;
};

} // namespace

int unknowns_of_a_node(row_view<double> a, cview<std::int32_t> row_of_entry) {
  return unknowns_of_a_node(a.shape.rows, a.nnz(), count_blocks(a.shape, row_of_entry, a.col));
}

int unknowns_of_a_node(index_t rows, index_t nnz, const std::array<index_t, 9>& blocks) {
  const auto fill = [&](int k) {
    const bool fits = rows % k == 0 && blocks[k] > 0;
    return fits ? double(blocks[k]) * k * k / double(nnz) : 1e300;
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
  host_kit kit(a, block);
  return build_levels<W, host_array>(kit);
}

template hierarchy<double> smoothed_aggregation(row_view<double>, int);
template hierarchy<float> smoothed_aggregation(row_view<double>, int);

} // namespace furrow::amg
