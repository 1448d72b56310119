// SPDX-License-Identifier: BSD-3-Clause
#include "near_null.hpp"

#include "node_rows.hpp"

#include <memory>

namespace furrow::amg {
namespace {

struct vector_smoothing {
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
  explicit vector_rows(const vector_smoothing& s)
      : s_(s), b_(s.m.block), count_(s.vectors.count), row_(s.g.count, b_, count_), weak_(std::size_t(row_.size())),
        own_(std::size_t(b_)), left_(std::size_t(b_)) {}

  void make(index_t node, row_batch<double>& out) {
    row_.open();
    if (const std::int32_t own = s_.g.of[node]; own >= 0) {
      row_.block(own); // the first one
      if (s_.omega != 0) smooth(node, own);
      for (int e = 0; e < row_.size(); ++e) row_.first()[e] += s_.p0.rows[node * row_.size() + e];
    }
    row_.append_to(out, zeros::kept);
  }

private:
  /// Adds an entry times the row of some vectors that it meets to row r of `at`.
  void add(double* at, int r, index_t entry, const host_array<double>& vectors) const {
    const double* const row = vectors.data() + index_t(s_.m.a.col[entry]) * count_;
    for (int q = 0; q < count_; ++q) at[r * count_ + q] += s_.m.a.val[entry] * row[q];
  }
  /// weak = what the weak entries make of the vectors, and whether those entries have to stay.
  bool filter(index_t node, std::int32_t aggregate) {
    std::ranges::fill(weak_, 0.0);
    std::ranges::fill(own_, 0.0);
    std::ranges::fill(left_, 0.0);
    bool any = false;
    each_coupling(s_.m, s_.strong, node, [&](int r, index_t k, std::int32_t j, bool strong) {
      if (s_.m.a.col[k] == node * b_ + r) own_[std::size_t(r)] = s_.m.a.val[k];
      if (strong) return;
      any = true;
      add(weak_.data(), r, k, s_.vectors.of_rows);
      if (s_.m.a.col[k] - j * b_ == r) left_[std::size_t(r)] += s_.m.a.val[k];
    });
    if (!any) return true;
    for (std::size_t r = 0; r < own_.size(); ++r)
      if (own_[r] + left_[r] < least_share * own_[r]) return true;
    for (int q = 0; q < count_; ++q)
      if (s_.p0.is_lost(aggregate, q)) return true;
    return false;
  }
  /// Blocks = -omega D^-1 A_F P0.
  void smooth(index_t node, std::int32_t aggregate) {
    const bool whole = filter(node, aggregate);
    each_coupling(s_.m, s_.strong, node, [&](int r, index_t k, std::int32_t j, bool strong) {
      if (s_.g.of[j] >= 0 && (whole || strong)) add(row_.block(s_.g.of[j]), r, k, s_.p0.rows);
    });
    if (!whole) move_with(aggregate);
    row_.multiply(s_.inverse.data() + node * b_ * b_, -s_.omega);
  }
  /// Adds to the first block what the weak entries make of the vectors, in terms of those of the aggregate: z R = weak
  /// with R the factors of the aggregate, upper triangular.
  void move_with(std::int32_t aggregate) {
    const double* const factor = s_.p0.coarse.of_rows.data() + index_t(aggregate) * count_ * count_;
    for (int r = 0; r < b_; ++r) {
      double* const z = weak_.data() + r * count_;
      for (int q = 0; q < count_; ++q) {
        for (int p = 0; p < q; ++p) z[q] -= z[p] * factor[p * count_ + q];
        z[q] /= factor[q * count_ + q];
        row_.first()[r * count_ + q] += z[q];
      }
    }
  }

  const vector_smoothing& s_;
  int b_, count_;
  block_row row_;
  std::vector<double> weak_, own_, left_;
};

} // namespace

row_matrix<double> smoothed_prolongation(const node_matrix& m, const strong_graph& strong, const aggregates& g,
                                         const host_array<double>& inverse, double omega, const near_null& vectors,
                                         const tentative& p0) {
  const vector_smoothing s{m, strong, g, inverse, omega, vectors, p0};
  return made_by_nodes(m, g.count * vectors.count, [&] { return std::make_unique<vector_rows>(s); });
}

} // namespace furrow::amg
