// SPDX-License-Identifier: BSD-3-Clause
#include "prolongation.hpp"

#include "matrix/row_accumulator.hpp"

#include <cmath>

namespace furrow::amg {
namespace {

constexpr double piece_entries = 1 << 17;
constexpr double least_share = 0.2; ///< of a diagonal entry that lumping must leave

/// Makes the rows of P of one node after the other; a thread has one.
class node_rows {
public:
  node_rows(const node_matrix& m, const strength& s, const aggregates& g, const host_array<double>& inverse,
            double omega)
      : m_(m), s_(s), g_(g), inverse_(inverse), omega_(omega), norms_(m.block == 1 ? 0 : m.nodes()), row_(g.count) {}

  void make(index_t node, row_batch<double>& out) {
    row_.open();
    sums_.clear();
    if (g_.of[node] >= 0) {
      place(g_.of[node]);
      if (omega_ != 0) filter(node);
      if (omega_ != 0) smooth(node);
      for (int r = 0; r < m_.block; ++r) sums_[(r * m_.block + r)] += 1; // P0: the first place is the node's own
    }
    emit(out);
  }

private:
  int places() const { return m_.block * m_.block; }
  double* place(std::int32_t aggregate) {
    const std::int32_t at = row_.add(aggregate, 0);
    const auto size = static_cast<std::size_t>(row_.size()) * static_cast<std::size_t>(places());
    if (sums_.size() < size) sums_.resize(size, 0.0);
    return sums_.data() + static_cast<std::ptrdiff_t>(at) * places();
  }
  bool strong(index_t node, index_t k) {
    const std::int32_t j = m_.a.col[k] / m_.block;
    if (m_.block == 1) return s_.strong(std::abs(m_.a.val[k]), node, j);
    return s_.strong(std::sqrt(norms_.sum(norms_.find(j))), node, j);
  }
  /// Which entries of the node stay, and the sum of the others.
  void filter(index_t node) {
    const index_t first = m_.a.begin(node * m_.block), last = m_.a.begin((node + 1) * m_.block);
    if (m_.block > 1) {
      norms_.open();
      for (index_t k = first; k < last; ++k) norms_.add(m_.a.col[k] / m_.block, m_.a.val[k] * m_.a.val[k]);
    }
    lumped_.assign(static_cast<std::size_t>(places()), 0.0);
    whole_ = false;
    for (int r = 0; r < m_.block; ++r) {
      double own = 0;
      for (index_t k = m_.a.begin(node * m_.block + r); k < m_.a.end(node * m_.block + r); ++k) {
        const std::int32_t j = m_.a.col[k];
        if (j == node * m_.block + r) own = m_.a.val[k];
        if (j / m_.block != node && !strong(node, k)) lumped_[r * m_.block + j % m_.block] += m_.a.val[k];
      }
      whole_ = whole_ || own + lumped_[r * m_.block + r] < least_share * own;
    }
  }
  /// sums = -omega D^-1 A_F P0.
  void smooth(index_t node) {
    const int b = m_.block;
    for (int r = 0; r < b; ++r)
      for (index_t k = m_.a.begin(node * b + r); k < m_.a.end(node * b + r); ++k) {
        const std::int32_t j = m_.a.col[k] / b;
        if (g_.of[j] < 0 || !(whole_ || j == node || strong(node, k))) continue;
        place(g_.of[j])[r * b + m_.a.col[k] % b] += m_.a.val[k];
      }
    if (!whole_)
      for (int e = 0; e < places(); ++e) sums_[e] += lumped_[e];
    std::vector<double>& t = product_;
    t.resize(static_cast<std::size_t>(places()));
    for (index_t at = 0; at < row_.size(); ++at) {
      double* const block = sums_.data() + at * places();
      for (int r = 0; r < b; ++r)
        for (int c = 0; c < b; ++c) {
          double sum = 0;
          for (int l = 0; l < b; ++l) sum += inverse_[(node * b + r) * b + l] * block[l * b + c];
          t[r * b + c] = -omega_ * sum;
        }
      std::copy(t.begin(), t.end(), block);
    }
  }
  void emit(row_batch<double>& out) {
    order_.clear();
    for (index_t k = 0; k < row_.size(); ++k) order_.push_back({row_.col(k), static_cast<std::int32_t>(k)});
    std::sort(order_.begin(), order_.end());
    const int b = m_.block;
    for (int r = 0; r < b; ++r) {
      const std::size_t before = out.col.size();
      for (const auto& [aggregate, at] : order_)
        for (int c = 0; c < b; ++c) {
          const double v = sums_[static_cast<std::size_t>(at) * places() + r * b + c];
          if (v == 0) continue;
          out.col.push_back(aggregate * b + c);
          out.val.push_back(v);
        }
      out.length.push_back(static_cast<std::int32_t>(out.col.size() - before));
    }
  }

  const node_matrix& m_;
  const strength& s_;
  const aggregates& g_;
  const host_array<double>& inverse_;
  double omega_;
  row_accumulator norms_, row_; ///< squares by node; places by aggregate
  std::vector<double> sums_, lumped_, product_;
  std::vector<std::pair<std::int32_t, std::int32_t>> order_;
  bool whole_ = false;
};

} // namespace

row_matrix<double> smoothed_prolongation(const node_matrix& m, const strength& s, const aggregates& g,
                                         const host_array<double>& inverse, double omega) {
  const auto cuts = cut_by_weight(m.nodes(), piece_entries, [&](index_t i) {
    return double(m.a.begin((i + 1) * m.block) - m.a.begin(i * m.block) + 1);
  });
  std::vector<row_batch<double>> pieces(cuts.size() - 1);
  pool<node_rows> makers;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto maker = makers.take([&] { return std::make_unique<node_rows>(m, s, g, inverse, omega); });
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) maker->make(i, pieces[k]);
    makers.put(std::move(maker));
  });
  return stacked<double>({m.a.shape.rows, g.count * m.block}, std::move(pieces));
}

} // namespace furrow::amg
