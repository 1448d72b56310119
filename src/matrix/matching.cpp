// SPDX-License-Identifier: BSD-3-Clause
#include "matching.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace furrow {
namespace {

constexpr double far = std::numeric_limits<double>::infinity();
constexpr index_t none = -1;

/// Rows on one side, columns on the other, and the pairs found so far.
template <class V> class bipartite {
public:
  explicit bipartite(row_view<V> a)
      : a_(a), n_(a.shape.rows), cost_(a.nnz()), log_max_(n_, 0.0), u_(n_, 0.0), v_(n_, far), entry_of_(n_, none),
        row_of_(n_, -1), distance_(n_, far), reached_by_(n_, none), reached_from_(n_, -1) {
    price();
    pair_greedily();
    for (index_t i = 0; i < n_; ++i)
      if (entry_of_[i] == none) augment(i);
  }

  heavy_diagonal answer() const {
    heavy_diagonal h{host_array<std::int32_t>(n_), host_array<double>(n_), host_array<double>(n_)};
    std::copy(row_of_.begin(), row_of_.end(), h.row_of.begin());
    for (index_t i = 0; i < n_; ++i) {
      h.row_scale[i] = within_range(u_[i] - log_max_[i]);
      h.col_scale[i] = within_range(v_[i] < far ? v_[i] : 0);
    }
    index_t free_column = 0;
    for (index_t i = 0; i < n_; ++i) {
      if (entry_of_[i] != none) {
        ++h.rank;
        continue;
      }
      if (h.unpaired < 0) h.unpaired = i;
      while (h.row_of[free_column] >= 0) ++free_column;
      h.row_of[free_column] = static_cast<std::int32_t>(i);
    }
    return h;
  }

private:
  /// e^x, kept where neither it nor its inverse overflows.
  static double within_range(double x) { return std::exp(std::clamp(x, -690.0, 690.0)); }

  double reduced(index_t i, index_t k) const { return cost_[k] - v_[a_.col[k]] - u_[i]; }

  void price() {
    for (index_t i = 0; i < n_; ++i) {
      double most = 0;
      for (index_t k = a_.begin(i); k < a_.end(i); ++k) most = std::max(most, std::abs(double(a_.val[k])));
      if (most > 0) log_max_[i] = std::log(most);
      for (index_t k = a_.begin(i); k < a_.end(i); ++k) {
        cost_[k] = a_.val[k] == 0 ? far : std::max(log_max_[i] - std::log(std::abs(double(a_.val[k]))), 0.0);
        v_[a_.col[k]] = std::min(v_[a_.col[k]], cost_[k]);
      }
    }
  }

  /// The dual variables begin as the least costs of columns, then of rows; each row takes a column at its least cost.
  void pair_greedily() {
    for (index_t i = 0; i < n_; ++i) {
      double least = far;
      for (index_t k = a_.begin(i); k < a_.end(i); ++k)
        if (cost_[k] < far) least = std::min(least, cost_[k] - v_[a_.col[k]]);
      if (least == far) continue;
      u_[i] = least;
      for (index_t k = a_.begin(i); k < a_.end(i) && entry_of_[i] == none; ++k)
        if (cost_[k] < far && row_of_[a_.col[k]] < 0 && reduced(i, k) <= 0) pair(i, k);
    }
  }

  void pair(index_t i, index_t k) {
    entry_of_[i] = k;
    row_of_[a_.col[k]] = static_cast<std::int32_t>(i);
  }

  /// The shortest path from row `root` to a column that is free, by Dijkstra's algorithm, and the pairs along it turned
  /// round; nothing where there is none.
  void augment(index_t root) {
    nearest_ = {far, -1};
    settled_.clear();
    touched_.clear();
    heap_ = {};
    scan(root, 0);
    while (!heap_.empty()) {
      const auto [d, j] = heap_.top();
      if (d >= nearest_.first) break;
      heap_.pop();
      if (d > distance_[j]) continue; // a shorter way was found since
      settled_.push_back(j);
      scan(row_of_[j], d);
    }
    if (nearest_.second >= 0) {
      for (const std::int32_t j : settled_) v_[j] += distance_[j] - nearest_.first;
      turn_round(root);
      for (const std::int32_t j : settled_) tighten(row_of_[j]);
      tighten(row_of_[nearest_.second]);
    }
    for (const std::int32_t j : touched_) distance_[j] = far;
  }

  /// Reaches the columns of row i, which is at distance d.
  void scan(index_t i, double d) {
    for (index_t k = a_.begin(i); k < a_.end(i); ++k) {
      const std::int32_t j = a_.col[k];
      if (cost_[k] == far || k == entry_of_[i]) continue;
      const double there = d + std::max(reduced(i, k), 0.0);
      if (!(there < std::min(nearest_.first, distance_[j]))) continue;
      if (distance_[j] == far) touched_.push_back(j);
      distance_[j] = there;
      reached_by_[j] = k;
      reached_from_[j] = static_cast<std::int32_t>(i);
      if (row_of_[j] < 0) nearest_ = {there, j};
      else heap_.push({there, j});
    }
  }

  void turn_round(index_t root) {
    for (std::int32_t j = nearest_.second;;) {
      const index_t i = reached_from_[j], before = entry_of_[i];
      pair(i, reached_by_[j]);
      if (i == root) return;
      j = a_.col[before];
    }
  }

  void tighten(index_t i) { u_[i] = cost_[entry_of_[i]] - v_[a_.col[entry_of_[i]]]; }

  using place = std::pair<double, std::int32_t>;
  row_view<V> a_;
  index_t n_;
  host_array<double> cost_;            ///< of each entry
  host_array<double> log_max_, u_, v_; ///< of rows, rows, columns
  host_array<index_t> entry_of_;       ///< by which a row is paired
  host_array<std::int32_t> row_of_;    ///< with which a column is paired
  host_array<double> distance_;        ///< of columns from the root
  host_array<index_t> reached_by_;
  host_array<std::int32_t> reached_from_;
  place nearest_{far, -1}; ///< free column
  std::vector<std::int32_t> settled_, touched_;
  std::priority_queue<place, std::vector<place>, std::greater<>> heap_;
};

} // namespace

template <class V> heavy_diagonal match_heavy_diagonal(row_view<V> a) { return bipartite<V>(a).answer(); }

template heavy_diagonal match_heavy_diagonal(row_view<double>);
template heavy_diagonal match_heavy_diagonal(row_view<float>);

} // namespace furrow
