// SPDX-License-Identifier: BSD-3-Clause
#include "cuthill_mckee.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace furrow {
namespace {

/// Levels of a search in breadth, one root after the other.
class breadth {
public:
  explicit breadth(const adjacency& g)
      : g_(g), n_(g.row_ptr.size() - 1), mark_(static_cast<std::size_t>(n_), 0), order_(n_) {}

  bool ordered(index_t i) const { return mark_[i] == done; }

  /// Adds the component of `root` behind what is there.
  void add(std::int32_t root) {
    for (std::int32_t start = root; search(start).depth > depth_;) {
      depth_ = last_.depth;
      start = std::exchange(root, last_.rim); // the one before it was as deep
    }
    depth_ = 0;
    search(root);
    for (index_t k = size_; k < last_.end; ++k) mark_[order_[k]] = done;
    size_ = last_.end;
  }

  host_array<std::int32_t> reversed() && {
    std::reverse(order_.begin(), order_.end());
    return std::move(order_);
  }

private:
  static constexpr std::int32_t done = -1;
  struct found {
    index_t depth = 0, end = 0;
    std::int32_t rim = 0; ///< the row of fewest neighbours in the last level
  };

  bool fewer(std::int32_t a, std::int32_t b) const { return std::pair(g_.degree(a), a) < std::pair(g_.degree(b), b); }

  found search(std::int32_t root) {
    ++search_;
    index_t end = size_, level = size_;
    const auto reach = [&](std::int32_t i) {
      if (mark_[i] == done || mark_[i] == search_) return;
      mark_[i] = search_;
      order_[end++] = i;
    };
    reach(root);
    last_.depth = 0;
    for (index_t at = size_; at < end; ++last_.depth) {
      level = at;
      for (const index_t last = end; at < last; ++at) {
        const index_t first = end, i = order_[at];
        for (index_t k = g_.row_ptr[i]; k < g_.row_ptr[i + 1]; ++k) reach(g_.col[k]);
        std::sort(order_.data() + first, order_.data() + end, [&](auto a, auto b) { return fewer(a, b); });
      }
    }
    last_.end = end;
    last_.rim =
        *std::min_element(order_.data() + level, order_.data() + end, [&](auto a, auto b) { return fewer(a, b); });
    return last_;
  }

  const adjacency& g_;
  index_t n_, size_ = 0, depth_ = 0;
  std::vector<std::int32_t> mark_; ///< the search that reached a row
  std::int32_t search_ = 0;
  host_array<std::int32_t> order_;
  found last_;
};

} // namespace

template <class V> adjacency neighbours_of(row_view<V> a) {
  const index_t n = a.shape.rows;
  std::vector<index_t> next(static_cast<std::size_t>(n) + 1, 0);
  for (const std::int32_t j : a.col) ++next[static_cast<std::size_t>(j) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<index_t> begin = next;
  host_array<std::int32_t> above(a.nnz()); // the rows that have an entry in a column, ascending
  for (index_t i = 0; i < n; ++i)
    for (index_t k = a.begin(i); k < a.end(i); ++k) above[next[a.col[k]]++] = static_cast<std::int32_t>(i);

  const auto merge = [&](index_t i, auto take) { // the union of row i and column i, ascending, without i
    index_t k = a.begin(i), l = begin[i];
    while (k < a.end(i) || l < begin[i + 1]) {
      const bool row = l == begin[i + 1] || (k < a.end(i) && a.col[k] <= above[l]);
      const std::int32_t j = row ? a.col[k] : above[l];
      if (k < a.end(i) && a.col[k] == j) ++k;
      if (l < begin[i + 1] && above[l] == j) ++l;
      if (j != i) take(j);
    }
  };
  adjacency g{host_array<index_t>(n + 1), {}};
  g.row_ptr[0] = 0;
  for (index_t i = 0; i < n; ++i) {
    g.row_ptr[i + 1] = g.row_ptr[i];
    merge(i, [&](std::int32_t) { ++g.row_ptr[i + 1]; });
  }
  g.col.resize(g.row_ptr[n]);
  index_t at = 0;
  for (index_t i = 0; i < n; ++i) merge(i, [&](std::int32_t j) { g.col[at++] = j; });
  return g;
}

host_array<std::int32_t> reverse_cuthill_mckee(const adjacency& g) {
  const index_t n = g.row_ptr.size() - 1;
  std::vector<std::int32_t> by_degree(static_cast<std::size_t>(n));
  std::iota(by_degree.begin(), by_degree.end(), 0);
  std::ranges::stable_sort(by_degree, {}, [&](std::int32_t i) { return g.degree(i); });
  breadth search(g);
  for (const std::int32_t root : by_degree)
    if (!search.ordered(root)) search.add(root);
  return std::move(search).reversed();
}

template adjacency neighbours_of(row_view<double>);
template adjacency neighbours_of(row_view<float>);

} // namespace furrow
