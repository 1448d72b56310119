// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace furrow {

/// A sparse row under way (F. G. Gustavson, Two fast algorithms for sparse matrices, 1978): addends come in any order
/// of columns, each sum is in double and takes its addends in the order in which they come. 4 bytes a column are
/// touched at random, 12 an entry in order.
class row_accumulator {
public:
  explicit row_accumulator(index_t cols) : place_(cols, -1), col_(cols), sum_(cols) {}

  /// Begins a row.
  void open() {
    base_ += count_;
    count_ = 0;
    if (base_ > std::numeric_limits<std::int32_t>::max() - place_.size()) {
      std::fill(place_.begin(), place_.end(), -1);
      base_ = 0;
    }
  }
  /// Adds v to the entry of column j and says where that is among the entries of the row.
  std::int32_t add(std::int32_t j, double v) {
    const index_t at = place_[j] - base_;
    if (at >= 0) {
      sum_[at] += v;
      return static_cast<std::int32_t>(at);
    }
    place_[j] = static_cast<std::int32_t>(base_ + count_);
    col_[count_] = j;
    sum_[count_] = v;
    return static_cast<std::int32_t>(count_++);
  }
  /// Where column j, which was added, is.
  std::int32_t find(std::int32_t j) const { return static_cast<std::int32_t>(place_[j] - base_); }

  index_t size() const { return count_; }
  std::int32_t col(index_t k) const { return col_[k]; }
  double& sum(index_t k) { return sum_[k]; }

  /// Sorts the row by column; `find` and `add` are over.
  void sort() {
    if (count_ <= 32) return insert();
    order_.resize(static_cast<std::size_t>(count_));
    for (index_t k = 0; k < count_; ++k) order_[k] = {col_[k], sum_[k]};
    std::sort(order_.begin(), order_.end(), [](const entry& a, const entry& b) { return a.col < b.col; });
    for (index_t k = 0; k < count_; ++k) col_[k] = order_[k].col, sum_[k] = order_[k].sum;
  }

private:
  struct entry {
    std::int32_t col;
    double sum;
  };
  void insert() {
    for (index_t k = 1; k < count_; ++k) {
      const std::int32_t j = col_[k];
      const double v = sum_[k];
      index_t to = k;
      for (; to > 0 && col_[to - 1] > j; --to) col_[to] = col_[to - 1], sum_[to] = sum_[to - 1];
      col_[to] = j, sum_[to] = v;
    }
  }

  host_array<std::int32_t> place_, col_; ///< a column's place among all entries since the last filling; columns
  host_array<double> sum_;
  std::vector<entry> order_;
  index_t base_ = 0, count_ = 0;
};

/// Things that threads take in turn: as many as there are threads at work.
template <class T> class pool {
public:
  template <class Make> std::unique_ptr<T> take(Make make) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto thing = std::move(idle_.back());
        idle_.pop_back();
        return thing;
      }
    }
    return make();
  }
  void put(std::unique_ptr<T> thing) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(thing));
  }

private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

/// Finished rows of one piece of a matrix.
template <class V> struct row_batch {
  std::vector<std::int32_t> col;
  std::vector<V> val;
  std::vector<std::int32_t> length;

  void take(row_accumulator& row) {
    for (index_t k = 0; k < row.size(); ++k) {
      col.push_back(row.col(k));
      val.push_back(static_cast<V>(row.sum(k)));
    }
    length.push_back(static_cast<std::int32_t>(row.size()));
  }
};

/// Pieces one below the other as one matrix. Parallel; takes the pieces apart as it goes.
template <class V> row_matrix<V> stacked(shape2 shape, std::vector<row_batch<V>> pieces) {
  row_matrix<V> m{shape, host_array<index_t>(shape.rows + 1), {}, {}};
  std::vector<index_t> first{0}, row{0};
  for (const auto& piece : pieces) {
    first.push_back(first.back() + static_cast<index_t>(piece.col.size()));
    row.push_back(row.back() + static_cast<index_t>(piece.length.size()));
  }
  m.col.resize(first.back());
  m.val.resize(first.back());
  m.row_ptr[0] = 0;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    row_batch<V> piece = std::move(pieces[k]);
    index_t at = first[k], i = row[k];
    std::copy(piece.col.begin(), piece.col.end(), m.col.data() + at);
    std::copy(piece.val.begin(), piece.val.end(), m.val.data() + at);
    for (const std::int32_t length : piece.length) m.row_ptr[++i] = at += length;
  });
  return m;
}

/// Bounds of pieces of [0, n) with nearly equal work, each of about `grain`; weight(i) >= 0. The first and the last
/// bound are 0 and n.
template <class Weight> std::vector<index_t> cut_by_weight(index_t n, double grain, Weight weight) {
  std::vector<index_t> cuts{0};
  double done = 0;
  for (index_t i = 0; i < n; ++i)
    if ((done += weight(i)) >= grain && i + 1 < n) {
      cuts.push_back(i + 1);
      done = 0;
    }
  cuts.push_back(n);
  return cuts;
}

} // namespace furrow
