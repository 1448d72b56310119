// SPDX-License-Identifier: BSD-3-Clause
#include "threshold.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace furrow::ilut_preconditioner {
namespace {

class elimination {
public:
  elimination(row_view<double> a, index_t fill, double drop, double shift)
      : a_(a), n_(a.shape.rows), fill_(fill), drop_(drop), shift_(shift), value_(static_cast<std::size_t>(n_), 0.0),
        present_(static_cast<std::size_t>(n_), 0) {
    f_.rows.shape = a.shape;
    f_.rows.row_ptr.resize(n_ + 1);
    f_.pivot.resize(n_);
    make_room(a.nnz() + n_);
    for (index_t i = 0; i < n_; ++i) {
      stops_set_up::at_row(i);
      eliminate(static_cast<std::int32_t>(i));
    }
    f_.rows.row_ptr[n_] = size_;
    f_.rows.col.extend(size_);
    f_.rows.val.extend(size_);
  }
  lu_factors take() && { return std::move(f_); }

private:
  void make_room(index_t entries) {
    if (entries <= f_.rows.col.capacity()) return;
    const index_t grown = std::max(entries, size_ + size_ / 2);
    check_fill(12 * double(grown), "ilut");
    f_.rows.col.extend(grown);
    f_.rows.val.extend(grown);
  }

  void eliminate(std::int32_t i) {
    f_.rows.row_ptr[i] = size_;
    const row_of_a row = scatter(i);
    while (!to_do_.empty()) {
      std::ranges::pop_heap(to_do_, std::greater<>{});
      const std::int32_t k = to_do_.back();
      to_do_.pop_back();
      subtract(k, i, drop_ * row.norm);
    }
    const auto small = [&](std::int32_t j) {
      const bool drop = std::abs(value_[j]) < drop_ * row.norm || value_[j] == 0;
      if (drop) clear(j);
      return drop;
    };
    std::erase_if(upper_, small);
    keep_largest(lower_, row.below + fill_);
    keep_largest(upper_, row.above + fill_);
    make_room(size_ + index_t(lower_.size() + upper_.size()) + 1);
    store(lower_);
    f_.pivot[i] = size_;
    f_.rows.col[size_] = i;
    f_.rows.val[size_++] = safe_pivot(value_[i], row.largest, i, f_);
    clear(i);
    store(upper_);
  }

  struct row_of_a {
    double norm = 0, largest = 0;
    index_t below = 0, above = 0; ///< entries on each side of the diagonal
  };

  row_of_a scatter(std::int32_t i) {
    row_of_a row;
    double squares = 0;
    for (index_t k = a_.begin(i); k < a_.end(i); ++k) {
      const std::int32_t j = a_.col[k];
      add(j, i, a_.val[k]);
      row.largest = std::max(row.largest, std::abs(a_.val[k]));
      row.below += j < i;
      row.above += j > i;
    }
    value_[i] += std::copysign(shift_ * row.largest, value_[i]);
    for (index_t k = a_.begin(i); k < a_.end(i) && row.largest > 0; ++k) { // scaled, so that no square overflows
      const double v = a_.val[k] / row.largest;
      squares += v * v;
    }
    row.norm = row.largest * std::sqrt(squares);
    return row;
  }

  /// The row at hand gets v in column j.
  void add(std::int32_t j, std::int32_t i, double v) {
    value_[j] += v;
    if (present_[j]) return;
    present_[j] = 1;
    if (j > i) upper_.push_back(j);
    if (j >= i) return;
    to_do_.push_back(j);
    std::ranges::push_heap(to_do_, std::greater<>{});
  }

  /// The row at hand minus its factor times row k of U; nothing where the factor is below `least`.
  void subtract(std::int32_t k, std::int32_t i, double least) {
    const double factor = value_[k] / f_.rows.val[f_.pivot[k]];
    if (!(std::abs(value_[k]) >= least) || factor == 0) return clear(k);
    value_[k] = factor;
    for (index_t e = f_.pivot[k] + 1; e < f_.rows.row_ptr[k + 1]; ++e) add(f_.rows.col[e], i, -factor * f_.rows.val[e]);
    lower_.push_back(k);
  }

  void keep_largest(std::vector<std::int32_t>& side, index_t most) {
    if (index_t(side.size()) <= most) return;
    const auto larger = [&](std::int32_t x, std::int32_t y) {
      const double a = std::abs(value_[x]), b = std::abs(value_[y]);
      return a != b ? a > b : x < y;
    };
    std::nth_element(side.begin(), side.begin() + most, side.end(), larger);
    std::for_each(side.begin() + most, side.end(), [&](std::int32_t j) { clear(j); });
    side.resize(static_cast<std::size_t>(most));
  }

  void store(std::vector<std::int32_t>& side) {
    std::ranges::sort(side);
    for (const std::int32_t j : side) {
      f_.rows.col[size_] = j;
      f_.rows.val[size_++] = value_[j];
      clear(j);
    }
    side.clear();
  }

  void clear(std::int32_t j) {
    value_[j] = 0;
    present_[j] = 0;
  }

  row_view<double> a_;
  index_t n_, fill_, size_ = 0;
  double drop_, shift_;
  lu_factors f_;
  std::vector<double> value_; ///< of the row at hand, by column
  std::vector<char> present_;
  std::vector<std::int32_t> to_do_; ///< a heap: columns left of the diagonal that are still to be eliminated
  std::vector<std::int32_t> lower_, upper_;
};

} // namespace

lu_factors factorise_by_threshold(row_view<double> a, index_t fill, double drop, double shift) {
  return elimination(a, fill, drop, shift).take();
}

} // namespace furrow::ilut_preconditioner
