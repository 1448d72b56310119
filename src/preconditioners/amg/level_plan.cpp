// SPDX-License-Identifier: BSD-3-Clause
#include "level_plan.hpp"

#include "extremes.hpp"
#include "prolongation.hpp"

#include "backends/cpu/parallel.hpp"
#include "matrix/row_accumulator.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow::amg {
namespace {

constexpr index_t planned_at_once = 1 << 10;

/// Entries of the rows of a node, one row after the other: f(row of the node, entry of A, its node, its unknown there).
template <class F> void each_entry(const node_matrix& m, index_t node, F f) {
  for (int r = 0; r < m.block; ++r)
    for (index_t k = m.a.begin(node * m.block + r); k < m.a.end(node * m.block + r); ++k) {
      const std::int32_t j = m.block == 1 ? m.a.col[k] : m.a.col[k] / m.block;
      f(r, k, j, m.a.col[k] - j * m.block);
    }
}

bool is_strong(const strong_graph& g, index_t i, std::int32_t j) {
  return i == j || std::binary_search(g.to.data() + g.first[i], g.to.data() + g.first[i + 1], j);
}

/// Whether the smoothing of a node takes all of its entries, weak ones too.
bool is_whole(const node_matrix& m, const strong_graph& g, index_t node) {
  std::vector<double> own(static_cast<std::size_t>(m.block), 0.0), weak(own);
  each_entry(m, node, [&](int r, index_t k, std::int32_t j, int c) {
    if (j == node && c == r) own[r] = m.a.val[k];
    else if (c == r && !is_strong(g, node, j)) weak[r] += m.a.val[k];
  });
  for (int r = 0; r < m.block; ++r)
    if (own[r] + weak[r] < least_share * own[r]) return true;
  return false;
}

/// 1 / sqrt(a_ii) of each row.
host_array<double> scales_of_rows(row_view<double> a) {
  host_array<double> scale(a.shape.rows);
  cpu::for_each_range(a.shape.rows, planned_at_once, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i)
      for (index_t k = a.begin(i); k < a.end(i); ++k)
        if (a.col[k] == i) scale[i] = 1 / std::sqrt(a.val[k]);
  });
  return scale;
}

} // namespace

void level_plan::keep_diagonal(row_view<double> a) {
  diagonal_.resize(a.shape.rows);
  cpu::for_each_range(a.shape.rows, planned_at_once, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      const std::int32_t *const begin = a.col.data + a.begin(i), *const end = a.col.data + a.end(i);
      const auto at = std::lower_bound(begin, end, i);
      diagonal_[i] = at != end && *at == i ? static_cast<std::int32_t>(at - begin) : -1;
    }
  });
}

diagonal_extremes level_plan::extremes(row_view<double> a) const {
  return extremes_over_rows(a.shape.rows, [&](index_t i) {
    const double own = diagonal_[i] < 0 ? 0 : a.val[a.begin(i) + diagonal_[i]];
    return std::isnan(own) ? 0 : own;
  });
}

host_array<double> level_plan::inverse(const node_matrix& m) const {
  if (m.block > 1) return inverse_diagonal(m);
  host_array<double> inverse(m.a.shape.rows);
  cpu::for_each_range(inverse.size(), 1 << 13, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) inverse[i] = 1 / m.a.val[m.a.begin(i) + diagonal_[i]];
  });
  return inverse;
}

void level_plan::keep_smoothing(const node_matrix& m, const strong_graph& strong, const aggregates& g,
                                row_view<double> p, double theta) {
  theta_ = theta, smoothed_ = true;
  std::atomic<bool> fits = true, weak = false;
  place_.resize(m.a.nnz());
  cpu::for_each_range(m.nodes(), planned_at_once, [&](index_t first, index_t last) {
    bool any = false;
    for (index_t i = first; i < last; ++i) {
      const std::int32_t* const begin = p.col.data + p.begin(i * m.block);
      const index_t count = (p.end(i * m.block) - p.begin(i * m.block)) / m.block;
      if (count >= ignored) fits = false;
      const bool whole = count > 0 && is_whole(m, strong, i);
      each_entry(m, i, [&](int, index_t k, std::int32_t j, int) {
        place_[k] = ignored;
        if (count == 0) return;
        if (!whole && !is_strong(strong, i, j)) place_[k] = lumped, any = true;
        else if (g.of[j] >= 0) {
          index_t at = 0; // rows of P are short
          while (begin[at * m.block] / m.block != g.of[j]) ++at;
          place_[k] = static_cast<place>(at);
        }
      });
    }
    if (any) weak = true;
  });
  has_weak_ = weak;
  fits_ = fits_ && fits;
}

void level_plan::keep_product(const node_matrix& m, row_view<double> p, row_view<double> r, row_view<double> product) {
  fits_ = fits_ && p.nnz() < std::numeric_limits<std::uint32_t>::max();
  if (!fits_) return;
  from_.resize(p.nnz());
  host_array<std::uint32_t> next(p.shape.cols); // entries of R's rows come in the order of P's
  for (index_t j = 0; j < p.shape.cols; ++j) next[j] = static_cast<std::uint32_t>(r.begin(j));
  for (index_t k = 0; k < p.nnz(); ++k) from_[next[p.col[k]]++] = static_cast<std::uint32_t>(k);
  product_ = triple_product_plan(m.a, p, r, product, m.block);
  fits_ = product_.fits();
}

bool level_plan::is_doubtful(const node_matrix& m, const host_array<double>& scale, index_t node) const {
  double most_weak = 0, most_strong = 0;
  each_entry(m, node, [&](int r, index_t k, std::int32_t j, int) {
    if (j == node) return;
    double& most = place_[k] == lumped ? most_weak : most_strong;
    most = std::max(most, std::abs(m.a.val[k]) * scale[node * m.block + r] * scale[m.a.col[k]]);
  });
  return most_weak >= std::max(theta_ * m.block, most_strong / 2);
}

/// The same sums where a node is a row.
index_t level_plan::prolong_rows(const node_matrix& m, const host_array<double>& inverse,
                                 const host_array<double>& scale, row_view<double> pattern, view<double> p) const {
  const double omega = 4 / (3 * top.bound);
  std::atomic<index_t> doubtful = 0;
  cpu::for_each_range(m.nodes(), planned_at_once, [&](index_t first, index_t last) {
    index_t found = 0;
    for (index_t i = first; i < last; ++i) {
      const index_t count = pattern.end(i) - pattern.begin(i), begin = m.a.begin(i), end = m.a.end(i);
      if (count == 0) continue;
      const index_t diagonal = begin + diagonal_[i];
      double own = m.a.val[diagonal];
      if (has_weak_) {
        double weak = 0;
        bool any = false;
        for (index_t k = begin; k < end; ++k)
          if (place_[k] == lumped) weak += m.a.val[k], any = true;
        if (any) found += is_doubtful(m, scale, i);
        if (any && !(own + weak < least_share * own)) own += weak;
      }
      double* const out = p.data + pattern.begin(i);
      std::fill_n(out, count, 0.0);
      const place mine = place_[diagonal];
      out[mine] = own;
      for (index_t k = begin; k < end; ++k)
        if (place_[k] < ignored && k != diagonal) out[place_[k]] += m.a.val[k];
      const double factor = -omega * inverse[i];
      for (index_t at = 0; at < count; ++at) out[at] *= factor;
      out[mine] += 1;
    }
    doubtful += found;
  });
  return doubtful;
}

/// Makes the numbers of one node of several unknowns after the other; a thread has one.
struct level_plan::node_numbers {
  const level_plan& plan;
  const node_matrix& m;
  const host_array<double>&inverse, &scale;
  row_view<double> pattern;
  view<double> p;
  double omega;
  std::vector<double> sums{}, weak{}, own{};
  index_t doubtful = 0;

  void make(index_t node) {
    const int b = m.block, size = b * b;
    const index_t count = (pattern.end(node * b) - pattern.begin(node * b)) / b;
    if (count == 0) return;
    sums.assign(static_cast<std::size_t>(count * size), 0.0);
    weak.assign(static_cast<std::size_t>(size), 0.0);
    own.assign(static_cast<std::size_t>(b), 0.0);
    place mine = 0;
    bool any = false;
    each_entry(m, node, [&](int r, index_t k, std::int32_t j, int c) {
      if (j == node) {
        mine = plan.place_[k];
        if (c == r) own[r] = m.a.val[k];
      }
      if (plan.place_[k] == lumped) weak[r * b + c] += m.a.val[k], any = true;
    });
    double* const diagonal = sums.data() + mine * size;
    if (any) {
      doubtful += plan.is_doubtful(m, scale, node);
      any = lumps(b);
    }
    each_entry(m, node, [&](int r, index_t k, std::int32_t, int c) {
      if (plan.place_[k] < ignored) sums[plan.place_[k] * size + r * b + c] += m.a.val[k];
    });
    if (any)
      for (int e = 0; e < size; ++e) diagonal[e] += weak[e];
    write(node, count, mine);
  }

private:
  bool lumps(int b) const {
    for (int r = 0; r < b; ++r)
      if (own[r] + weak[r * b + r] < least_share * own[r]) return false;
    return true;
  }
  /// P = P0 - omega D^-1 times the sums.
  void write(index_t node, index_t count, place mine) {
    const int b = m.block;
    const double* const d = inverse.data() + node * b * b;
    for (int r = 0; r < b; ++r) {
      double* const out = p.data + pattern.begin(node * b + r);
      for (index_t at = 0; at < count; ++at)
        for (int c = 0; c < b; ++c) {
          double sum = 0;
          for (int l = 0; l < b; ++l) sum += d[r * b + l] * sums[(at * b + l) * b + c];
          out[at * b + c] = -omega * sum;
        }
      out[mine * b + r] += 1;
    }
  }
};

index_t level_plan::prolong(const node_matrix& m, const host_array<double>& inverse, row_view<double> pattern,
                            view<double> p) const {
  if (!smoothed_) {
    cpu::for_each_range(m.a.shape.rows, planned_at_once, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i)
        for (index_t k = pattern.begin(i); k < pattern.end(i); ++k) p[k] = pattern.col[k] % m.block == i % m.block;
    });
    return 0;
  }
  const host_array<double> scale = has_weak_ ? scales_of_rows(m.a) : host_array<double>();
  if (m.block == 1) return prolong_rows(m, inverse, scale, pattern, p);
  std::atomic<index_t> doubtful = 0;
  cpu::for_each_range(m.nodes(), planned_at_once, [&](index_t first, index_t last) {
    node_numbers numbers{*this, m, inverse, scale, pattern, p, 4 / (3 * top.bound)};
    for (index_t i = first; i < last; ++i) numbers.make(i);
    doubtful += numbers.doubtful;
  });
  return doubtful;
}

void level_plan::transpose(cview<double> p, view<double> r) const {
  cpu::for_each_range(r.size, 1 << 14, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) r[k] = p[from_[k]];
  });
}

} // namespace furrow::amg
