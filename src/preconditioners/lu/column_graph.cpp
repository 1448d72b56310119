// SPDX-License-Identifier: BSD-3-Clause
#include "column_graph.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace furrow::lu {
namespace {

using offsets = std::vector<std::int32_t>;

/// Lists of numbers, one behind the other.
struct lists {
  const std::int32_t *begins, *numbers;
  index_t size(index_t j) const { return begins[j + 1] - begins[j]; }
  const std::int32_t* begin(index_t j) const { return numbers + begins[j]; }
  const std::int32_t* end(index_t j) const { return numbers + begins[j + 1]; }
};

/// The rows of each column of A + A' with its own, ascending: those of A itself where its pattern is symmetric.
class whole_pattern {
public:
  explicit whole_pattern(const columns& a) : given_(a) {
    if (a.symmetric_pattern) return;
    offsets across(at(a.n + 1), 0), columns_of(at(a.nnz()));
    for (index_t k = 0; k < a.nnz(); ++k) ++across[at(a.row[k] + 1)];
    for (index_t i = 0; i < a.n; ++i) across[at(i + 1)] += across[at(i)];
    offsets next(across.begin(), across.end() - 1);
    for (std::int32_t j = 0; j < a.n; ++j)
      for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) columns_of[at(next[at(a.row[k])]++)] = j;
    begins_.push_back(0);
    numbers_.reserve(at(2 * a.nnz() + a.n));
    for (std::int32_t j = 0; j < a.n; ++j) {
      const auto begin = std::ptrdiff_t(numbers_.size());
      std::set_union(a.row.data() + a.begin[j], a.row.data() + a.begin[j + 1], columns_of.begin() + across[at(j)],
                     columns_of.begin() + across[at(j + 1)], std::back_inserter(numbers_));
      const auto own = std::lower_bound(numbers_.begin() + begin, numbers_.end(), j);
      if (own == numbers_.end() || *own != j) numbers_.insert(own, j);
      begins_.push_back(static_cast<std::int32_t>(numbers_.size()));
    }
  }
  lists rows() const {
    if (given_.symmetric_pattern) return {given_.begin.data(), given_.row.data()};
    return {begins_.data(), numbers_.data()};
  }

private:
  const columns& given_;
  offsets begins_, numbers_;
};

/// A number that is the same for the same rows, and for others hardly ever.
std::uint64_t key_of(const lists& rows, index_t j) {
  std::uint64_t key = 0;
  for (const std::int32_t* i = rows.begin(j); i != rows.end(j); ++i) {
    const std::uint64_t mixed = (std::uint64_t(*i) + 1) * 0x9e3779b97f4a7c15;
    key += mixed ^ (mixed >> 29);
  }
  return key;
}

/// The block of each column; the first columns of the blocks are returned.
offsets find_blocks(const lists& rows, index_t n, offsets& block_of) {
  const std::size_t mask = std::bit_ceil(at(n) + 1) - 1;
  offsets head(mask + 1, -1), next, first;
  std::vector<std::uint64_t> keys;
  block_of.resize(at(n));
  for (index_t j = 0; j < n; ++j) {
    const std::uint64_t key = key_of(rows, j);
    std::int32_t& chain = head[(key ^ (key >> 32)) & mask];
    std::int32_t b = chain;
    while (b >= 0 && !(keys[at(b)] == key &&
                       std::equal(rows.begin(j), rows.end(j), rows.begin(first[at(b)]), rows.end(first[at(b)]))))
      b = next[at(b)];
    if (b < 0) {
      b = static_cast<std::int32_t>(first.size());
      first.push_back(static_cast<std::int32_t>(j));
      keys.push_back(key);
      next.push_back(std::exchange(chain, b));
    }
    block_of[at(j)] = b;
  }
  return first;
}

} // namespace

column_graph graph_of(const columns& a) {
  const whole_pattern pattern(a);
  const lists rows = pattern.rows();
  column_graph g;
  const offsets first = find_blocks(rows, a.n, g.block_of);
  g.weights.assign(first.size(), 0);
  for (const std::int32_t b : g.block_of) ++g.weights[at(b)];
  offsets seen(first.size(), -1);
  g.begins.push_back(0);
  for (std::int32_t b = 0; b < g.blocks(); ++b) {
    seen[at(b)] = b;
    for (const std::int32_t* i = rows.begin(first[at(b)]); i != rows.end(first[at(b)]); ++i)
      if (const std::int32_t c = g.block_of[at(*i)]; std::exchange(seen[at(c)], b) != b) g.neighbours.push_back(c);
    g.begins.push_back(static_cast<std::int32_t>(g.neighbours.size()));
  }
  return g;
}

host_array<std::int32_t> column_graph::places(const host_array<std::int32_t>& place_of_block) const {
  offsets from(weights.size() + 1, 0);
  for (index_t b = 0; b < blocks(); ++b) from[at(place_of_block[b] + 1)] = weights[at(b)];
  for (index_t b = 0; b < blocks(); ++b) from[at(b + 1)] += from[at(b)];
  host_array<std::int32_t> place(index_t(block_of.size()));
  for (index_t j = 0; j < place.size(); ++j) place[j] = from[at(place_of_block[block_of[at(j)]])]++;
  return place;
}

columns column_graph::as_columns() const {
  columns a;
  a.n = blocks(), a.symmetric_pattern = true;
  a.begin = host_array<std::int32_t>(a.n + 1), a.row = host_array<std::int32_t>(index_t(neighbours.size()) + a.n);
  a.val = host_array<double>(a.row.size(), 1.0);
  a.begin[0] = 0;
  for (std::int32_t b = 0; b < a.n; ++b) {
    std::int32_t* const from = a.row.data() + a.begin[b];
    std::int32_t* const to =
        std::copy(neighbours.begin() + begins[at(b)], neighbours.begin() + begins[at(b + 1)], from);
    *to = b;
    std::sort(from, to + 1);
    a.begin[b + 1] = static_cast<std::int32_t>(to + 1 - a.row.data());
  }
  return a;
}

} // namespace furrow::lu
