// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"
#include "matrix/rows.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace furrow {

/// A sparse row under way (F. G. Gustavson, Two fast algorithms for sparse matrices, 1978): addends come in any order
/// of columns, each sum is in double and takes its addends in the order in which they come. 4 bytes a column are
/// touched at random, 12 an entry in order. No branch asks whether a column is new: in products of short rows none
/// could be predicted.
class row_accumulator {
public:
  explicit row_accumulator(index_t cols) : place_(cols, -1), col_(cols), sum_(cols, 0.0) {}

  /// Begins a row.
  void open() {
    base_ += count_;
    std::fill_n(sum_.data(), count_, 0.0);
    count_ = 0;
    if (base_ > std::numeric_limits<std::int32_t>::max() - place_.size()) {
      std::fill(place_.begin(), place_.end(), -1);
      base_ = 0;
    }
  }
  /// Adds v to the entry of column j and says where that is among the entries of the row.
  std::int32_t add(std::int32_t j, double v) {
    add(
        1, 1, [j](index_t) { return j; }, [v](index_t) { return v; });
    return find(j);
  }
  /// Adds factor * value_of(k) to the entry of column col_of(k), for each k in [0, n).
  template <class Col, class Val> void add(double factor, index_t n, Col col_of, Val value_of) {
    index_t count = count_;
    for (index_t k = 0; k < n; ++k) {
      const std::int32_t j = col_of(k);
      index_t at = place_[j] - base_;
      const index_t fresh = at >> 63; // all ones: the column comes for the first time
      at += (count - at) & fresh;
      count -= fresh;
      place_[j] = static_cast<std::int32_t>(base_ + at);
      col_[at] = j;
      sum_[at] += factor * value_of(k);
    }
    count_ = count;
  }
  /// Where column j, which was added, is.
  std::int32_t find(std::int32_t j) const { return static_cast<std::int32_t>(place_[j] - base_); }

  index_t size() const { return count_; }
  std::int32_t col(index_t k) const { return col_[k]; }
  double& sum(index_t k) { return sum_[k]; }
  const std::int32_t* cols() const { return col_.data(); }
  const double* sums() const { return sum_.data(); }

  /// Sorts the row by column; `find` and `add` are over.
  void sort() {
    if (count_ <= 8) return insert();
    order_.resize(static_cast<std::size_t>(count_));
    if (count_ <= 64) {
      for (index_t k = 0; k < count_; ++k) order_[rank_of(k)] = {col_[k], sum_[k]};
    } else {
      for (index_t k = 0; k < count_; ++k) order_[k] = {col_[k], sum_[k]};
      std::sort(order_.begin(), order_.end(), [](const entry& a, const entry& b) { return a.col < b.col; });
    }
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
  /// How many columns are smaller: no branch depends on them.
  std::int32_t rank_of(index_t k) const {
    const std::int32_t j = col_[k];
    std::int32_t smaller = 0;
#pragma omp simd reduction(+ : smaller)
    for (index_t l = 0; l < count_; ++l) smaller += col_[l] < j;
    return smaller;
  }

  host_array<std::int32_t> place_, col_; ///< a column's place among all entries since the last filling; columns
  host_array<double> sum_;               ///< 0 from `count_` on
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

/// A list that grows, in the memory of arrays: what grows to megabytes costs no small pages. Fresh pages cost more than
/// what is written to them: reserve what is expected.
template <class T> class growing_list {
public:
  void reserve(index_t n) {
    if (n > items_.size()) hold(n);
  }
  /// Room for n more elements, to be filled.
  T* more(index_t n) {
    if (size_ + n > items_.size()) hold(std::max<index_t>({2 * items_.size(), size_ + n, 1 << 10}));
    return items_.data() + std::exchange(size_, size_ + n);
  }
  /// The last n elements go.
  void drop(index_t n) { size_ -= n; }
  index_t size() const { return size_; }
  const T* data() const { return items_.data(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

private:
  void hold(index_t n) {
    host_array<T> larger(n);
    std::copy_n(items_.data(), size_, larger.data());
    items_ = std::move(larger);
  }

  host_array<T> items_;
  index_t size_ = 0;
};

/// Finished rows of one piece of a matrix.
template <class V> struct row_batch {
  growing_list<std::int32_t> col;
  growing_list<V> val;
  growing_list<std::int32_t> length;

  void reserve(index_t rows, index_t entries) {
    length.reserve(rows);
    col.reserve(entries);
    val.reserve(entries);
  }
  void take(const row_accumulator& row) {
    std::copy_n(row.cols(), row.size(), col.more(row.size()));
    std::copy_n(row.sums(), row.size(), val.more(row.size()));
    *length.more(1) = static_cast<std::int32_t>(row.size());
  }
};

/// Pieces one below the other as one matrix. Parallel; takes the pieces apart as it goes.
template <class V> row_matrix<V> stacked(shape2 shape, std::vector<row_batch<V>> pieces) {
  row_matrix<V> m{shape, host_array<index_t>(shape.rows + 1), {}, {}};
  std::vector<index_t> first{0}, row{0};
  for (const auto& piece : pieces) {
    first.push_back(first.back() + piece.col.size());
    row.push_back(row.back() + piece.length.size());
  }
  m.col.resize(first.back());
  m.val.resize(first.back());
  m.row_ptr[0] = 0;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    const row_batch<V> piece = std::exchange(pieces[k], {});
    index_t at = first[k], i = row[k];
    std::copy(piece.col.begin(), piece.col.end(), m.col.data() + at);
    std::copy(piece.val.begin(), piece.val.end(), m.val.data() + at);
    for (const std::int32_t length : piece.length) m.row_ptr[++i] = at += length;
  });
  return m;
}

/// Work of a piece: some pieces a thread, each worth its handing out, so large that its lists are large arrays.
inline double work_of_piece(double work, double least) {
  return std::clamp(work / (8.0 * cpu::thread_count()), least, 32 * least);
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
