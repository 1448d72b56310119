// SPDX-License-Identifier: BSD-3-Clause
#include "symbolic.hpp"

#include <utility>

namespace furrow {
namespace {

constexpr std::int32_t nobody = -1;

/// The pattern by columns: of column j the rows i > j.
lower_pattern by_columns(const lower_pattern& a) {
  const index_t n = a.rows();
  lower_pattern t{host_array<index_t>(n + 1, 0), host_array<std::int32_t>(a.col.size())};
  for (const std::int32_t j : a.col) ++t.row_ptr[j + 1];
  for (index_t j = 0; j < n; ++j) t.row_ptr[j + 1] += t.row_ptr[j];
  host_array<index_t> to = t.row_ptr;
  for (index_t i = 0; i < n; ++i)
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) t.col[to[a.col[k]]++] = static_cast<std::int32_t>(i);
  return t;
}

/// Sets of nodes whose trees were gone through, by their topmost node so far.
class merged_subtrees {
public:
  explicit merged_subtrees(index_t n) : up_(static_cast<std::size_t>(n)) {
    for (std::size_t j = 0; j < up_.size(); ++j) up_[j] = std::int32_t(j);
  }
  void hang(std::int32_t j, std::int32_t parent) { up_[at(j)] = parent; }
  std::int32_t top_of(std::int32_t j) {
    std::int32_t top = j;
    while (up_[at(top)] != top) top = up_[at(top)];
    while (j != top) j = std::exchange(up_[at(j)], top);
    return top;
  }

private:
  static std::size_t at(std::int32_t j) { return static_cast<std::size_t>(j); }
  std::vector<std::int32_t> up_;
};

} // namespace

std::vector<std::int32_t> postorder(const host_array<std::int32_t>& parent) {
  const auto n = static_cast<std::size_t>(parent.size());
  std::vector<std::int32_t> child(n, nobody), next(n, nobody), order, way;
  order.reserve(n);
  for (std::size_t j = n; j-- > 0;)
    if (const std::int32_t p = parent[index_t(j)]; p >= 0)
      next[j] = std::exchange(child[static_cast<std::size_t>(p)], std::int32_t(j));
  for (std::size_t root = 0; root < n; ++root) {
    if (parent[index_t(root)] >= 0) continue;
    way.assign(1, std::int32_t(root));
    while (!way.empty()) {
      const auto j = static_cast<std::size_t>(way.back());
      if (child[j] < 0) {
        order.push_back(way.back());
        way.pop_back();
      } else {
        way.push_back(child[j]);
        child[j] = next[static_cast<std::size_t>(child[j])];
      }
    }
  }
  return order;
}

host_array<std::int32_t> elimination_tree(const lower_pattern& a) {
  const index_t n = a.rows();
  host_array<std::int32_t> parent(n, nobody), ancestor(n, nobody);
  for (index_t i = 0; i < n; ++i)
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      for (std::int32_t j = a.col[k]; j >= 0 && j < i;) {
        const std::int32_t above = std::exchange(ancestor[j], static_cast<std::int32_t>(i));
        if (above < 0) parent[j] = static_cast<std::int32_t>(i);
        j = above;
      }
  return parent;
}

host_array<index_t> cholesky_counts(const lower_pattern& a, const host_array<std::int32_t>& parent) {
  const index_t n = a.rows();
  const lower_pattern t = by_columns(a);
  const std::vector<std::int32_t> order = postorder(parent);
  // How many subtrees begin at a node, less those that meet there: sums over the subtree of a node count its column.
  host_array<index_t> count(n, 0);
  host_array<std::int32_t> first(n, nobody);                         // number of the first descendant in the order
  host_array<std::int32_t> last_leaf(n, nobody), reached(n, nobody); // of the subtree of each row
  for (index_t k = 0; k < n; ++k)
    for (std::int32_t j = order[static_cast<std::size_t>(k)]; j >= 0 && first[j] < 0; j = parent[j]) {
      if (j == order[static_cast<std::size_t>(k)]) count[j] = 1; // the diagonal: a leaf of the tree is its own subtree
      first[j] = static_cast<std::int32_t>(k);
    }
  merged_subtrees merged(n);
  for (const std::int32_t j : order) {
    if (parent[j] >= 0) --count[parent[j]]; // what goes through j ends above, or is counted there again
    for (index_t k = t.row_ptr[j]; k < t.row_ptr[j + 1]; ++k) {
      const std::int32_t i = t.col[k];
      if (first[j] <= reached[i]) continue; // a descendant of j has an entry in row i: j is no leaf of its subtree
      ++count[j];
      if (last_leaf[i] >= 0) --count[merged.top_of(last_leaf[i])]; // where the two ways meet
      last_leaf[i] = j;
      reached[i] = first[j];
    }
    if (parent[j] >= 0) merged.hang(j, parent[j]);
  }
  for (const std::int32_t j : order)
    if (parent[j] >= 0) count[parent[j]] += count[j];
  return count;
}

} // namespace furrow
