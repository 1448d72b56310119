// SPDX-License-Identifier: BSD-3-Clause
#include "near_null.hpp"

#include "prolongation.hpp"

#include "backends/cpu/parallel.hpp"
#include "matrix/row_accumulator.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace furrow::amg {
namespace {

constexpr double piece_entries = 1 << 14;

struct smoothing {
  const node_matrix& m;
  const strong_graph& strong;
  const aggregates& g;
  const host_array<double>& inverse;
  double omega;
  const near_null& vectors;
  const tentative& p0;
};

/// Makes the rows of P of one node after the other; a thread has one.
class vector_rows {
public:
  explicit vector_rows(const smoothing& s)
      : s_(s), b_(s.m.block), count_(s.vectors.count), row_(s.g.count), weak_(places()), own_(std::size_t(b_)),
        product_(places()) {}

  void make(index_t node, row_batch<double>& out) {
    row_.open();
    sums_.clear();
    if (const std::int32_t own = s_.g.of[node]; own >= 0) {
      place(own); // the first one
      if (s_.omega != 0) smooth(node, own);
      for (std::size_t e = 0; e < places(); ++e) sums_[e] += s_.p0.rows[node * index_t(places()) + index_t(e)];
    }
    write(out);
  }

private:
  std::size_t places() const { return std::size_t(b_) * std::size_t(count_); }
  double* place(std::int32_t aggregate) {
    const auto at = std::size_t(row_.add(aggregate, 0)), needed = std::size_t(row_.size()) * places();
    if (sums_.size() < needed) sums_.resize(needed, 0.0);
    return sums_.data() + at * places();
  }
  bool is_strong(index_t node, std::int32_t j) const {
    const strong_graph& g = s_.strong;
    return j == node || std::binary_search(g.to.data() + g.first[node], g.to.data() + g.first[node + 1], j);
  }
  /// f(row of the node, entry, its node, whether that is strongly coupled or the node itself)
  template <class F> void each(index_t node, F f) const {
    const auto& a = s_.m.a;
    for (int r = 0; r < b_; ++r) {
      std::int32_t before = -1;
      bool strong = false;
      for (index_t k = a.begin(node * b_ + r); k < a.end(node * b_ + r); ++k) {
        const std::int32_t j = a.col[k] / b_;
        if (j != before) strong = is_strong(node, j), before = j;
        f(r, k, j, strong);
      }
    }
  }
  /// Adds an entry times the row of some vectors that it meets to row r of `at`.
  void add(double* at, int r, index_t entry, const host_array<double>& vectors) const {
    const double* const row = vectors.data() + index_t(s_.m.a.col[entry]) * count_;
    for (int q = 0; q < count_; ++q) at[r * count_ + q] += s_.m.a.val[entry] * row[q];
  }
  /// weak = what the weak entries make of the vectors, and whether those entries have to stay.
  bool filter(index_t node, std::int32_t aggregate) {
    std::ranges::fill(weak_, 0.0);
    std::ranges::fill(own_, 0.0);
    std::vector<double>& left = product_; // of each diagonal entry
    std::ranges::fill(left, 0.0);
    bool any = false;
    each(node, [&](int r, index_t k, std::int32_t j, bool strong) {
      if (s_.m.a.col[k] == node * b_ + r) own_[std::size_t(r)] = s_.m.a.val[k];
      if (strong) return;
      any = true;
      add(weak_.data(), r, k, s_.vectors.of_rows);
      if (s_.m.a.col[k] - j * b_ == r) left[std::size_t(r)] += s_.m.a.val[k];
    });
    if (!any) return true;
    for (std::size_t r = 0; r < own_.size(); ++r)
      if (own_[r] + left[r] < least_share * own_[r]) return true;
    for (int q = 0; q < count_; ++q)
      if (s_.p0.is_lost(aggregate, q)) return true;
    return false;
  }
  /// sums = -omega D^-1 A_F P0.
  void smooth(index_t node, std::int32_t aggregate) {
    const bool whole = filter(node, aggregate);
    each(node, [&](int r, index_t k, std::int32_t j, bool strong) {
      if (s_.g.of[j] >= 0 && (whole || strong)) add(place(s_.g.of[j]), r, k, s_.p0.rows);
    });
    if (!whole) move_with(aggregate);
    times_inverse(node);
  }
  /// Adds to the first place what the weak entries make of the vectors, in terms of those of the aggregate: z R = weak
  /// with R the factors of the aggregate, upper triangular.
  void move_with(std::int32_t aggregate) {
    const double* const factor = s_.p0.coarse.of_rows.data() + index_t(aggregate) * count_ * count_;
    for (int r = 0; r < b_; ++r) {
      double* const z = weak_.data() + r * count_;
      for (int q = 0; q < count_; ++q) {
        for (int p = 0; p < q; ++p) z[q] -= z[p] * factor[p * count_ + q];
        z[q] /= factor[q * count_ + q];
        sums_[r * count_ + q] += z[q];
      }
    }
  }
  void times_inverse(index_t node) {
    const double* const d = s_.inverse.data() + node * b_ * b_;
    for (index_t at = 0; at < row_.size(); ++at) {
      double* const sums = sums_.data() + at * index_t(places());
      for (int r = 0; r < b_; ++r)
        for (int q = 0; q < count_; ++q) {
          double sum = 0;
          for (int l = 0; l < b_; ++l) sum += d[r * b_ + l] * sums[l * count_ + q];
          product_[r * count_ + q] = -s_.omega * sum;
        }
      std::ranges::copy(product_, sums);
    }
  }
  void write(row_batch<double>& out) {
    order_.clear();
    for (index_t k = 0; k < row_.size(); ++k) order_.push_back({row_.col(k), static_cast<std::int32_t>(k)});
    std::ranges::sort(order_);
    for (int r = 0; r < b_; ++r) {
      std::int32_t* col = out.col.more(row_.size() * count_);
      double* val = out.val.more(row_.size() * count_);
      for (const auto& [aggregate, at] : order_)
        for (int q = 0; q < count_; ++q) {
          *col++ = aggregate * count_ + q;
          *val++ = sums_[std::size_t(at) * places() + std::size_t(r * count_ + q)];
        }
      *out.length.more(1) = static_cast<std::int32_t>(row_.size() * count_);
    }
  }

  const smoothing& s_;
  int b_, count_;
  row_accumulator row_; ///< places by aggregate
  std::vector<double> weak_, own_, product_, sums_;
  std::vector<std::pair<std::int32_t, std::int32_t>> order_;
};

} // namespace

row_matrix<double> smoothed_prolongation(const node_matrix& m, const strong_graph& strong, const aggregates& g,
                                         const host_array<double>& inverse, double omega, const near_null& vectors,
                                         const tentative& p0) {
  const smoothing s{m, strong, g, inverse, omega, vectors, p0};
  const auto cuts = cut_by_weight(m.nodes(), work_of_piece(double(m.a.nnz()), piece_entries), [&](index_t i) {
    return double(m.a.begin((i + 1) * m.block) - m.a.begin(i * m.block) + 1);
  });
  std::vector<row_batch<double>> pieces(cuts.size() - 1);
  pool<vector_rows> makers;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto maker = makers.take([&] { return std::make_unique<vector_rows>(s); });
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) maker->make(i, pieces[k]);
    makers.put(std::move(maker));
  });
  return stacked<double>({m.a.shape.rows, g.count * vectors.count}, std::move(pieces));
}

} // namespace furrow::amg
