// SPDX-License-Identifier: BSD-3-Clause
#include "triangular.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <utility>

namespace furrow {
namespace {

/// Entries and rows of a level that are worth waking threads for, about 5 us of work.
constexpr index_t worth_sharing = 4096;
constexpr index_t least_share = 512; ///< rows of a thread's piece
/// Taken by levels a row finds what it needs all over x: 9 ms instead of 3 for poisson3d:100 on one thread.
constexpr int worth_levels = 4; ///< threads

} // namespace

template <class V> std::vector<std::int32_t> levels_of(const row_matrix<V>& beside, triangle side) {
  const index_t n = beside.shape.rows;
  std::vector<std::int32_t> level(static_cast<std::size_t>(n), 0);
  for (index_t k = 0; k < n; ++k) {
    const index_t i = side == triangle::lower ? k : n - 1 - k;
    for (index_t e = beside.row_ptr[i]; e < beside.row_ptr[i + 1]; ++e)
      level[i] = std::max(level[i], level[beside.col[e]] + 1);
  }
  return level;
}

template <class V>
triangular_solver<V>::triangular_solver(row_matrix<V> beside, host_array<V> inverse_diagonal, triangle side)
    : rows_(std::move(beside)), inverse_(std::move(inverse_diagonal)), side_(side) {
  schedule();
}

template <class V> void triangular_solver<V>::schedule() {
  const index_t n = rows_.shape.rows;
  const auto level = levels_of(rows_, side_);
  levels_ = n > 0 ? 1 + *std::ranges::max_element(level) : 0;
  std::vector<index_t> begin(static_cast<std::size_t>(levels_) + 1, 0), work(static_cast<std::size_t>(levels_), 0);
  for (index_t i = 0; i < n; ++i) {
    ++begin[level[i] + 1];
    work[level[i]] += 1 + rows_.row_ptr[i + 1] - rows_.row_ptr[i];
  }
  index_t shared = 0;
  for (index_t l = 0; l < levels_; ++l) {
    if (work[l] >= worth_sharing) shared += begin[l + 1];
    begin[l + 1] += begin[l];
  }
  if (2 * shared < n || n == 0 || cpu::thread_count() < worth_levels) return;

  for (index_t l = 0; l < levels_; ++l) {
    const bool share = work[l] >= worth_sharing;
    if (!share && !stretches_.empty() && !stretches_.back().shared) stretches_.back().last = begin[l + 1];
    else stretches_.push_back({begin[l], begin[l + 1], share});
  }
  order_.resize(n);
  for (index_t i = 0; i < n; ++i) order_[begin[level[i]]++] = static_cast<std::int32_t>(i);
  row_matrix<V> moved{rows_.shape, host_array<index_t>(n + 1), host_array<std::int32_t>(rows_.nnz()),
                      host_array<V>(rows_.nnz())};
  index_t next = 0;
  for (index_t k = 0; k < n; ++k) {
    moved.row_ptr[k] = next;
    for (index_t e = rows_.row_ptr[order_[k]]; e < rows_.row_ptr[order_[k] + 1]; ++e, ++next) {
      moved.col[next] = rows_.col[e];
      moved.val[next] = rows_.val[e];
    }
  }
  moved.row_ptr[n] = next;
  rows_ = std::move(moved);
}

template <class V> void triangular_solver<V>::take(index_t first, index_t last, view<V> x) const {
  const index_t n = rows_.shape.rows;
  const bool forward = side_ == triangle::lower, ordered = !order_.empty(), unit = inverse_.empty();
  for (index_t k = first; k < last; ++k) {
    const index_t at = ordered || forward ? k : n - 1 - k, i = ordered ? index_t(order_[k]) : at;
    V sum = x[i];
    for (index_t e = rows_.row_ptr[at]; e < rows_.row_ptr[at + 1]; ++e) sum -= rows_.val[e] * x[rows_.col[e]];
    x[i] = unit ? sum : sum * inverse_[i];
  }
}

template <class V> void triangular_solver<V>::solve(view<V> x) const {
  if (order_.empty()) return take(0, rows_.shape.rows, x);
  for (const stretch& s : stretches_) {
    if (!s.shared) take(s.first, s.last, x);
    else
      cpu::for_each_range(s.last - s.first, least_share,
                          [&](index_t first, index_t last) { take(s.first + first, s.first + last, x); });
  }
}

template <class V> double triangular_solver<V>::stored_bytes() const {
  return double(rows_.row_ptr.byte_count() + rows_.col.byte_count() + rows_.val.byte_count() + inverse_.byte_count() +
                order_.byte_count());
}

template std::vector<std::int32_t> levels_of(const row_matrix<double>&, triangle);
template std::vector<std::int32_t> levels_of(const row_matrix<float>&, triangle);
template class triangular_solver<double>;
template class triangular_solver<float>;

} // namespace furrow
