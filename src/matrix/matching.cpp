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
/// Passes over A and entries that searches of any length may take at first: all but teko_szdMat of 55 real matrices
/// are done by then.
constexpr index_t passes_at_first = 2, entries_at_first = 1 << 20;
/// What the searches of a round may take, and any one of them.
constexpr index_t passes_a_round = 2;
constexpr index_t short_search = 100;
/// A round has been in vain where it pairs less than a row of so many.
constexpr std::ptrdiff_t few = 32;
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
    search();
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
      const double least = least_reduced(i);
      if (least == far) continue;
      u_[i] = least;
      for (index_t k = a_.begin(i); k < a_.end(i) && entry_of_[i] == none; ++k)
        if (cost_[k] < far && row_of_[a_.col[k]] < 0 && reduced(i, k) <= 0) pair(i, k), --free_columns_;
    }
  }

  void pair(index_t i, index_t k) {
    entry_of_[i] = k;
    row_of_[a_.col[k]] = static_cast<std::int32_t>(i);
  }

  /// A search from each row without a pair; and, once they have taken long, rounds: one from each as long as it is
  /// short, then one from all that are left. Where the last columns are hard to come by each search sees much of A,
  /// 30,000 rows for each of the last 391 of powerlaw:100000:16:2.2. One from all rows changes u and v everywhere, so
  /// that those after it are short again: powerlaw:50000:16:2.2 takes 22 million entries in place of 49. Where a full
  /// row leads to all columns that are free its tree has them all, and a round hardly more than a pair. Searches of any
  /// length take less than such rounds then: 1,500 rows of fifteen columns beside s I and above A' 8 million in place
  /// of 124.
  void search() {
    std::vector<index_t> free;
    for (index_t i = 0; i < n_; ++i)
      if (entry_of_[i] == none) free.push_back(i);
    const index_t at_first = std::max(passes_at_first * cost_.size(), entries_at_first);
    std::erase_if(free, [&](index_t i) { return scanned_ < at_first && augment(i, at_first - scanned_); });
    bool in_vain = false; // the round before
    while (!free.empty() && augment_from_all(free)) {
      const std::ptrdiff_t before = std::ssize(free);
      std::erase_if(free, [&](index_t i) { return entry_of_[i] != none; });
      if (free.empty()) return;
      search_from_each(free, in_vain);
      in_vain = few * (before - std::ssize(free)) < before;
    }
  }

  /// `at_length`: until one search fails, of any length.
  void search_from_each(std::vector<index_t>& free, bool at_length) {
    const index_t passes = passes_a_round * cost_.size();
    const index_t most = std::max(passes / std::ssize(free), short_search);
    std::erase_if(free, [&](index_t i) {
      const bool ended = augment(i, at_length ? passes : most);
      at_length = at_length && entry_of_[i] != none;
      return ended;
    });
  }

  void begin_search() {
    nearest_ = {far, -1};
    settled_.clear();
    touched_.clear();
    heap_ = {};
  }

  /// The shortest path from row `root` to a column that is free, by Dijkstra's algorithm, and the pairs along it turned
  /// round. False, and nothing done, where that takes more than `most` entries; true and nothing done where there is
  /// none: nor will there be, for a later path that enters what was seen would end there.
  bool augment(index_t root, index_t most) {
    const index_t before = scanned_;
    begin_search();
    scan(root, 0);
    bool in_time = true;
    while (!heap_.empty()) {
      const auto [d, j] = heap_.top();
      if (d >= nearest_.first || !(in_time = scanned_ - before <= most)) break;
      heap_.pop();
      if (d > distance_[j]) continue; // a shorter way was found since
      settled_.push_back(j);
      scan(row_of_[j], d);
    }
    if (in_time && nearest_.second >= 0) {
      lower_columns(nearest_.first);
      turn_round(root, nearest_.second);
      for (const std::int32_t j : settled_) tighten(row_of_[j]);
      tighten(row_of_[nearest_.second]);
    }
    end_search();
    return in_time;
  }

  void lower_columns(double horizon) {
    for (const std::int32_t j : settled_) v_[j] += distance_[j] - horizon;
  }

  void end_search() {
    for (const std::int32_t j : touched_) distance_[j] = far;
  }

  /// A forest of shortest paths from all of these rows, and in each tree that has a free column the pairs along its
  /// path turned round. All paths of the forest have become tight then, whatever their lengths: rows and columns
  /// without a pair bind u and v to nothing. False where no tree has one: then there is no path any more.
  bool augment_from_all(const std::vector<index_t>& roots) {
    if (tree_of_.empty()) tree_of_ = host_array<std::int32_t>(n_, -1);
    std::vector<std::int32_t> end_of(roots.size(), -1);
    begin_search();
    for (std::size_t t = 0; t < roots.size(); ++t) {
      tree_of_[roots[t]] = static_cast<std::int32_t>(t);
      scan<true>(roots[t], 0);
    }
    std::size_t trees = 0, columns = 0;
    double horizon = 0;
    while (!heap_.empty() && trees < roots.size() && columns < free_columns_) {
      const auto [d, j] = heap_.top();
      heap_.pop();
      if (d > distance_[j]) continue;
      settled_.push_back(j);
      horizon = d;
      const std::int32_t t = tree_of_[reached_from_[j]];
      if (row_of_[j] >= 0) {
        tree_of_[row_of_[j]] = t;
        scan<true>(row_of_[j], d);
      } else {
        ++columns;
        if (end_of[t] < 0) end_of[t] = j, ++trees;
      }
    }
    if (trees > 0) {
      lower_columns(horizon);
      for (std::size_t t = 0; t < roots.size(); ++t)
        if (end_of[t] >= 0) turn_round(roots[t], end_of[t]);
      for (const std::int32_t j : settled_)
        if (row_of_[j] >= 0) tighten(row_of_[j]);
      for (const index_t i : roots)
        if (entry_of_[i] == none) raise(i);
    }
    end_search();
    return trees > 0;
  }

  /// The entries of row i, which are looked at.
  void count(index_t i) {
    const index_t looked = scanned_ / entries_a_look;
    scanned_ += a_.end(i) - a_.begin(i);
    if (look_ && scanned_ / entries_a_look > looked) look_();
  }

  /// Reaches the columns of row i, which is at distance d; `to_all`: free ones, too, and not the nearest one alone.
  template <bool to_all = false> void scan(index_t i, double d) {
    count(i);
    for (index_t k = a_.begin(i); k < a_.end(i); ++k) {
      const std::int32_t j = a_.col[k];
      if (cost_[k] == far || k == entry_of_[i]) continue;
      const double there = d + std::max(reduced(i, k), 0.0);
      if (!(there < std::min(nearest_.first, distance_[j]))) continue;
      if (distance_[j] == far) touched_.push_back(j);
      distance_[j] = there;
      reached_by_[j] = k;
      reached_from_[j] = static_cast<std::int32_t>(i);
      if (to_all || row_of_[j] >= 0) heap_.push({there, j});
      else nearest_ = {there, j};
    }
  }

  void turn_round(index_t root, std::int32_t end) {
    --free_columns_;
    for (std::int32_t j = end;;) {
      const index_t i = reached_from_[j], before = entry_of_[i];
      pair(i, reached_by_[j]);
      if (i == root) return;
      j = a_.col[before];
    }
  }

  double least_reduced(index_t i) const {
    double least = far;
    for (index_t k = a_.begin(i); k < a_.end(i); ++k)
      if (cost_[k] < far) least = std::min(least, cost_[k] - v_[a_.col[k]]);
    return least;
  }
  void raise(index_t i) { u_[i] = least_reduced(i); }
  void tighten(index_t i) { u_[i] = cost_[entry_of_[i]] - v_[a_.col[entry_of_[i]]]; }

  using place = std::pair<double, std::int32_t>;
  row_view<V> a_;
  const std::function<void()>& look_;
  index_t n_;
  index_t scanned_ = 0; ///< entries
  std::size_t free_columns_ = static_cast<std::size_t>(n_);
  host_array<std::int32_t> tree_of_;   ///< of rows
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
