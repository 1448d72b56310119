// SPDX-License-Identifier: BSD-3-Clause
#include "prolongation.hpp"

#include "node_rows.hpp"

#include <memory>

namespace furrow::amg {
namespace {

struct smoothing {
  const node_matrix& m;
  const strong_graph& strong;
  const aggregates& g;
  const host_array<double>& inverse;
  double omega;
  zeros of_sums;
};

/// Makes rows of P where a node is a row; a thread has one.
class single_rows {
public:
  explicit single_rows(const smoothing& s) : s_(s), row_(s.g.count) {}

  void make(index_t i, row_batch<double>& out) {
    row_.open();
    if (const std::int32_t own = s_.g.of[i]; own >= 0) {
      row_.add(own, 0); // the first place is the node's own
      if (s_.omega != 0) smooth(i);
      row_.sum(0) += 1;
      row_.sort();
    }
    append(
        out, s_.of_sums, row_.size(), [&](index_t k) { return row_.col(k); }, [&](index_t k) { return row_.sum(k); });
  }

private:
  /// row = -omega D^-1 A_F P0.
  void smooth(index_t i) {
    const double own = gather(i, false), left = own + weak_;
    if (left < least_share * own) row_.sum(0) = gather(i, true);
    else row_.sum(0) = left;
    row_.add(
        1, taken_, [&](index_t k) { return col_[k]; }, [&](index_t k) { return val_[k]; });
    const double factor = -s_.omega * s_.inverse[i];
    for (index_t k = 0; k < row_.size(); ++k) row_.sum(k) *= factor;
  }
  /// Takes the strong entries beside the diagonal, or all; adds up the others. The diagonal entry.
  double gather(index_t i, bool whole) {
    const auto& a = s_.m.a;
    const auto length = static_cast<std::size_t>(a.end(i) - a.begin(i));
    if (col_.size() < length) col_.resize(length), val_.resize(length);
    strong_neighbours strong(s_.strong, i);
    double own = 0;
    weak_ = 0, taken_ = 0;
    for (index_t k = a.begin(i); k < a.end(i); ++k) {
      const std::int32_t j = a.col[k];
      const double v = a.val[k];
      if (j == i) {
        own = v;
        continue;
      }
      const bool kept = whole || strong.has(j);
      weak_ += kept ? 0 : v;
      col_[taken_] = s_.g.of[j];
      val_[taken_] = v;
      taken_ += kept && s_.g.of[j] >= 0;
    }
    return own;
  }

  const smoothing& s_;
  row_accumulator row_;
  std::vector<std::int32_t> col_;
  std::vector<double> val_;
  index_t taken_ = 0;
  double weak_ = 0;
};

/// Makes the rows of P of nodes of several unknowns.
class block_rows {
public:
  explicit block_rows(const smoothing& s) : s_(s), b_(s.m.block), row_(s.g.count, b_, b_) {}

  void make(index_t node, row_batch<double>& out) {
    row_.open();
    if (const std::int32_t own = s_.g.of[node]; own >= 0) {
      row_.block(own); // the first one
      if (s_.omega != 0) {
        filter(node);
        smooth(node);
      }
      for (int r = 0; r < b_; ++r) row_.first()[r * b_ + r] += 1;
    }
    row_.append_to(out, s_.of_sums);
  }

private:
  /// The sum of the weak entries, and whether they may go.
  void filter(index_t node) {
    lumped_.assign(static_cast<std::size_t>(row_.size()), 0.0);
    own_.assign(static_cast<std::size_t>(b_), 0.0);
    each_coupling(s_.m, s_.strong, node, [&](int r, index_t k, std::int32_t j, bool strong) {
      const std::int32_t c = s_.m.a.col[k] - j * b_;
      if (j == node && c == r) own_[r] = s_.m.a.val[k];
      if (!strong) lumped_[r * b_ + c] += s_.m.a.val[k];
    });
    whole_ = false;
    for (int r = 0; r < b_; ++r) whole_ = whole_ || own_[r] + lumped_[r * b_ + r] < least_share * own_[r];
  }
  /// Blocks = -omega D^-1 A_F P0.
  void smooth(index_t node) {
    std::int32_t aggregate = -1; // that of the entry before
    double* to = nullptr;
    each_coupling(s_.m, s_.strong, node, [&](int r, index_t k, std::int32_t j, bool strong) {
      if (s_.g.of[j] < 0 || !(whole_ || strong)) return;
      if (s_.g.of[j] != aggregate) to = row_.block(aggregate = s_.g.of[j]);
      to[r * b_ + s_.m.a.col[k] - j * b_] += s_.m.a.val[k];
    });
    if (!whole_)
      for (int e = 0; e < row_.size(); ++e) row_.first()[e] += lumped_[e];
    row_.multiply(s_.inverse.data() + node * row_.size(), -s_.omega);
  }

  const smoothing& s_;
  int b_;
  block_row row_;
  std::vector<double> lumped_, own_;
  bool whole_ = false;
};

} // namespace

row_matrix<double> smoothed_prolongation(const node_matrix& m, const strong_graph& strong, const aggregates& g,
                                         const host_array<double>& inverse, double omega, zeros of_sums) {
  const smoothing s{m, strong, g, inverse, omega, of_sums};
  if (m.block == 1) return made_by_nodes(m, g.count, [&] { return std::make_unique<single_rows>(s); });
  return made_by_nodes(m, g.count * m.block, [&] { return std::make_unique<block_rows>(s); });
}

} // namespace furrow::amg
