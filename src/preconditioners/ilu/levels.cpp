// SPDX-License-Identifier: BSD-3-Clause
#include "levels.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace furrow::ilu_preconditioner {
namespace {

/// Where the factors have entries.
class pattern_of_levels {
public:
  pattern_of_levels(row_view<double> a, index_t most)
      : a_(a), most_(most), n_(a.shape.rows), level_of_(static_cast<std::size_t>(n_), -1) {
    rows_.shape = a.shape;
    rows_.row_ptr.resize(n_ + 1);
    pivot_.resize(n_);
    make_room(a.nnz() + n_);
    for (index_t i = 0; i < n_; ++i) {
      stops_set_up::at_row(i);
      add_row(i);
    }
    rows_.row_ptr[n_] = size_;
    rows_.col.extend(size_);
  }

  /// The pattern with values to come.
  lu_factors take() && {
    level_ = {};
    check_fill(8 * double(size_), "ilu");
    rows_.val.resize(size_);
    lu_factors f;
    f.rows = std::move(rows_);
    f.pivot = std::move(pivot_);
    return f;
  }

private:
  void make_room(index_t entries) {
    if (entries <= rows_.col.capacity()) return;
    const index_t grown = std::max(entries, size_ + size_ / 2);
    check_fill((most_ > 0 ? 8 : 4) * double(grown), "ilu");
    rows_.col.extend(grown);
    if (most_ > 0) level_.extend(grown);
  }

  void add_row(index_t i) {
    rows_.row_ptr[i] = size_;
    const auto row = static_cast<std::int32_t>(i);
    reach(row, row, 0);
    for (index_t k = a_.begin(i); k < a_.end(i); ++k) reach(a_.col[k], row, 0);
    while (!to_do_.empty()) {
      std::ranges::pop_heap(to_do_, std::greater<>{});
      const std::int32_t k = to_do_.back();
      to_do_.pop_back();
      lower_.push_back(k);
      if (level_of_[k] >= most_) continue; // what it fills is beyond
      for (index_t e = pivot_[k] + 1; e < rows_.row_ptr[k + 1]; ++e)
        if (const std::int32_t level = level_of_[k] + level_[e] + 1; level <= most_) reach(rows_.col[e], row, level);
    }
    std::ranges::sort(upper_);
    make_room(size_ + index_t(lower_.size() + upper_.size()) + 1);
    for (const std::int32_t j : lower_) store(j);
    pivot_[i] = size_;
    store(row);
    for (const std::int32_t j : upper_) store(j);
    lower_.clear();
    upper_.clear();
  }

  /// The row at hand has an entry in column j, of that level or less.
  void reach(std::int32_t j, std::int32_t row, std::int32_t level) {
    if (level_of_[j] >= 0) {
      level_of_[j] = std::min(level_of_[j], level);
      return;
    }
    level_of_[j] = level;
    if (j > row) upper_.push_back(j);
    if (j >= row) return;
    to_do_.push_back(j);
    std::ranges::push_heap(to_do_, std::greater<>{});
  }

  void store(std::int32_t j) {
    rows_.col[size_] = j;
    if (most_ > 0) level_[size_] = level_of_[j];
    ++size_;
    level_of_[j] = -1;
  }

  row_view<double> a_;
  index_t most_, n_, size_ = 0;
  row_matrix<double> rows_;
  host_array<index_t> pivot_;
  host_array<std::int32_t> level_;     ///< of each entry; empty for level 0
  std::vector<std::int32_t> level_of_; ///< by column, of the row at hand; -1: no entry
  std::vector<std::int32_t> to_do_;    ///< a heap: columns left of the diagonal that are still to be eliminated
  std::vector<std::int32_t> lower_, upper_;
};

} // namespace

lu_factors factorise_by_levels(row_view<double> a, index_t level, double shift) {
  lu_factors f = pattern_of_levels(a, level).take();
  row_matrix<double>& lu = f.rows;
  std::vector<index_t> place(static_cast<std::size_t>(a.shape.cols), -1);
  for (index_t i = 0; i < a.shape.rows; ++i) {
    stops_set_up::at_row(i);
    const index_t begin = lu.row_ptr[i], end = lu.row_ptr[i + 1];
    for (index_t e = begin; e < end; ++e) {
      place[lu.col[e]] = e;
      lu.val[e] = 0;
    }
    double size = 0;
    for (index_t k = a.begin(i); k < a.end(i); ++k) {
      lu.val[place[a.col[k]]] = a.val[k];
      size = std::max(size, std::abs(a.val[k]));
    }
    lu.val[f.pivot[i]] += std::copysign(shift * size, lu.val[f.pivot[i]]);
    for (index_t e = begin; e < f.pivot[i]; ++e) {
      const index_t k = lu.col[e];
      const double factor = lu.val[e] /= lu.val[f.pivot[k]];
      for (index_t u = f.pivot[k] + 1; u < lu.row_ptr[k + 1]; ++u)
        if (const index_t to = place[lu.col[u]]; to >= 0) lu.val[to] -= factor * lu.val[u];
    }
    lu.val[f.pivot[i]] = safe_pivot(lu.val[f.pivot[i]], size, i, f);
    for (index_t e = begin; e < end; ++e) place[lu.col[e]] = -1;
  }
  return f;
}

} // namespace furrow::ilu_preconditioner
