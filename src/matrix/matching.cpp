// SPDX-License-Identifier: BSD-3-Clause
#include "matching.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

namespace furrow {
namespace {

constexpr double far = std::numeric_limits<double>::infinity();
constexpr index_t none = -1;
/// Passes over A that searches without an end may take before what they reached is left out of later ones. Of 20,000
/// rows whose entries lie in half of the columns, 5 each, every other one would walk over all of A: 10,000 passes.
constexpr double passes_in_vain = 20;
/// Entries between two looks at whether to go on: some milliseconds.
constexpr index_t entries_a_look = 1 << 20;

/// Rows on one side, columns on the other, and the pairs found so far.
template <class V> class bipartite {
public:
  bipartite(row_view<V> a, const std::function<void()>& look)
      : a_(a), look_(look), n_(a.shape.rows), cost_(a.nnz()), log_max_(n_, 0.0), u_(n_, 0.0), v_(n_, far),
        entry_of_(n_, none), row_of_(n_, -1), distance_(n_, far), reached_by_(n_, none), reached_from_(n_, -1) {
    price();
    pair_greedily();
    for (index_t i = 0; i < n_; ++i)
      if (entry_of_[i] == none) augment(i);
    if (!need_.empty()) settle_dead_ones();
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
    const index_t before = scanned_;
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
    } else if ((in_vain_ += scanned_ - before) > index_t(passes_in_vain * double(cost_.size()))) leave(root);
    for (const std::int32_t j : touched_) distance_[j] = far;
  }

  /// A search that has seen all that can be reached and no free column: none will ever be reached from there, for a
  /// later path that enters would end here. Its rows and columns are a set of their own from now on.
  void leave(index_t root) {
    if (need_.empty()) set_of_row_.assign(n_, 0), set_of_column_.assign(n_, 0), need_.push_back(0);
    const auto set = static_cast<std::int32_t>(need_.size());
    need_.push_back(0);
    set_of_row_[root] = set;
    for (const std::int32_t j : touched_) set_of_column_[j] = set_of_row_[row_of_[j]] = set;
  }

  /// Rows that went on have raised their u past v of the sets that were left. Their columns lead into the sets and none
  /// out of them, nor out of a set into a later one: each is moved as a whole, u up and v down, the last one first.
  void settle_dead_ones() {
    std::vector<index_t> rows(n_);
    std::iota(rows.begin(), rows.end(), index_t(0));
    const auto turn = [&](index_t i) { return set_of_row_[i] == 0 ? std::ssize(need_) : set_of_row_[i]; };
    std::stable_sort(rows.begin(), rows.end(), [&](index_t i, index_t k) { return turn(i) > turn(k); });
    for (const index_t i : rows) {
      u_[i] += need_[set_of_row_[i]];
      for (index_t k = a_.begin(i); k < a_.end(i); ++k)
        if (const auto set = set_of_column_[a_.col[k]]; cost_[k] < far && set > 0 && set != set_of_row_[i])
          need_[set] = std::max(need_[set], -reduced(i, k));
    }
    for (index_t j = 0; j < n_; ++j) v_[j] -= need_[set_of_column_[j]];
    for (index_t i = 0; i < n_; ++i)
      if (set_of_row_[i] > 0 && entry_of_[i] != none) tighten(i);
  }

  bool is_left(std::int32_t j) const { return !need_.empty() && set_of_column_[j] > 0; }

  /// Reaches the columns of row i, which is at distance d.
  void scan(index_t i, double d) {
    const index_t looked = scanned_ / entries_a_look;
    scanned_ += a_.end(i) - a_.begin(i);
    if (look_ && scanned_ / entries_a_look > looked) look_();
    for (index_t k = a_.begin(i); k < a_.end(i); ++k) {
      const std::int32_t j = a_.col[k];
      if (cost_[k] == far || k == entry_of_[i] || is_left(j)) continue;
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
  const std::function<void()>& look_;
  index_t n_;
  index_t scanned_ = 0, in_vain_ = 0; ///< entries, of them by searches that found nothing
  /// Sets that were left, from 1 on, 0 for all others; by how much each is moved. Empty where none was.
  std::vector<std::int32_t> set_of_row_, set_of_column_;
  std::vector<double> need_;
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

template <class V> heavy_diagonal match_heavy_diagonal(row_view<V> a, const std::function<void()>& look) {
  return bipartite<V>(a, look).answer();
}

template heavy_diagonal match_heavy_diagonal(row_view<double>, const std::function<void()>&);
template heavy_diagonal match_heavy_diagonal(row_view<float>, const std::function<void()>&);

} // namespace furrow
