// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "prolongation.hpp"

#include "matrix/row_accumulator.hpp"

#include <algorithm>
#include <utility>
#include <vector>

/// What prolongations are made of, row by row or node by node.
namespace furrow::amg {

/// Says of a node's neighbours, asked for in ascending order, which are strong.
class strong_neighbours {
public:
  strong_neighbours(const strong_graph& g, index_t node)
      : next_(g.to.data() + g.first[node]), end_(g.to.data() + g.first[node + 1]) {}
  bool has(std::int32_t node) {
    while (next_ != end_ && *next_ < node) ++next_;
    return next_ != end_ && *next_ == node;
  }

private:
  const std::int32_t *next_, *end_;
};

/// f(row r of the node, entry k of A, its node j, strong) for the entries of the rows of a node, one row after the
/// other; its own block counts as strong.
template <class F> void each_coupling(const node_matrix& m, const strong_graph& g, index_t node, F f) {
  const int b = m.block;
  for (int r = 0; r < b; ++r) {
    strong_neighbours strong(g, node);
    for (index_t k = m.a.begin(node * b + r), end = m.a.end(node * b + r); k < end;) {
      const std::int32_t j = m.a.col[k] / b, first = j * b;
      const bool coupled = j == node || strong.has(j);
      for (; k < end && m.a.col[k] - first < b; ++k) f(r, k, j, coupled);
    }
  }
}

/// Appends a row of `count` entries, without those that are 0 unless they are kept.
template <class Col, class Val>
void append(row_batch<double>& out, zeros of_sums, index_t count, Col col_of, Val value_of) {
  std::int32_t* const col = out.col.more(count);
  double* const val = out.val.more(count);
  index_t kept = 0;
  for (index_t k = 0; k < count; ++k) {
    col[kept] = col_of(k);
    val[kept] = value_of(k);
    kept += of_sums == zeros::kept || val[kept] != 0;
  }
  out.col.drop(count - kept), out.val.drop(count - kept);
  *out.length.more(1) = static_cast<std::int32_t>(kept);
}

/// The rows of a node of P under way: a block of rows x cols numbers for each aggregate that is asked for.
class block_row {
public:
  block_row(index_t aggregates, int rows, int cols)
      : rows_(rows), cols_(cols), row_(aggregates), product_(static_cast<std::size_t>(size())) {}

  int size() const { return rows_ * cols_; }
  void open() {
    row_.open();
    sums_.clear();
  }
  /// Of an aggregate; zeros where it comes for the first time. Another call may move it.
  double* block(std::int32_t aggregate) {
    const std::int32_t at = row_.add(aggregate, 0);
    const auto all = static_cast<std::size_t>(row_.size()) * static_cast<std::size_t>(size());
    if (sums_.size() < all) sums_.resize(all, 0.0);
    return sums_.data() + static_cast<std::ptrdiff_t>(at) * size();
  }
  /// The block that was asked for first.
  double* first() { return sums_.data(); }
  /// Each block becomes factor * inverse * block.
  void multiply(const double* inverse, double factor) {
    for (index_t at = 0; at < row_.size(); ++at) {
      double* const block = sums_.data() + at * size();
      for (int r = 0; r < rows_; ++r)
        for (int c = 0; c < cols_; ++c) {
          double sum = 0;
          for (int l = 0; l < rows_; ++l) sum += inverse[r * rows_ + l] * block[l * cols_ + c];
          product_[r * cols_ + c] = factor * sum;
        }
      std::ranges::copy(product_, block);
    }
  }
  void append_to(row_batch<double>& out, zeros of_sums) {
    order_.clear();
    for (index_t k = 0; k < row_.size(); ++k) order_.push_back({row_.col(k), static_cast<std::int32_t>(k)});
    std::ranges::sort(order_);
    for (int r = 0; r < rows_; ++r)
      append(
          out, of_sums, row_.size() * cols_,
          [&](index_t k) { return static_cast<std::int32_t>(order_[k / cols_].first * cols_ + k % cols_); },
          [&](index_t k) { return sums_[order_[k / cols_].second * size() + r * cols_ + k % cols_]; });
  }

private:
  int rows_, cols_;
  row_accumulator row_; ///< places by aggregate
  std::vector<double> sums_, product_;
  std::vector<std::pair<std::int32_t, std::int32_t>> order_;
};

/// P of so many columns, by makers of the rows of a node, of which each thread has one: make(node, rows).
template <class MakeOne> row_matrix<double> made_by_nodes(const node_matrix& m, index_t cols, MakeOne make_one) {
  constexpr double piece_entries = 1 << 14;
  const auto cuts = cut_by_weight(m.nodes(), work_of_piece(double(m.a.nnz()), piece_entries), [&](index_t i) {
    return double(m.a.begin((i + 1) * m.block) - m.a.begin(i * m.block) + 1);
  });
  std::vector<row_batch<double>> pieces(cuts.size() - 1);
  pool<typename decltype(make_one())::element_type> makers;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto maker = makers.take(make_one);
    const index_t first = cuts[k] * m.block, last = cuts[k + 1] * m.block;
    pieces[k].reserve(last - first, (m.a.begin(last) - m.a.begin(first)) * 5 / 8);
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) maker->make(i, pieces[k]);
    makers.put(std::move(maker));
  });
  return stacked<double>({m.a.shape.rows, cols}, std::move(pieces));
}

} // namespace furrow::amg
