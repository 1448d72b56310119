// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <numeric>

namespace furrow::lu {
namespace {

/// The search from one column after the other, without recursion: columns on the way are a list.
class component_search {
public:
  component_search(const columns& a, const transversal& rows)
      : a_(a), rows_(rows), next_(at(a.n)), seen_(at(a.n), unseen), block_of_(at(a.n), unseen) {}

  std::vector<std::int32_t> run() {
    for (std::int32_t j = 0; j < a_.n; ++j)
      if (seen_[at(j)] == unseen) from(j);
    return std::move(block_of_);
  }
  std::int32_t count() const { return count_; }

private:
  static constexpr std::int32_t unseen = -1;

  void from(std::int32_t root) {
    visit(root);
    while (!way_.empty()) {
      const std::int32_t j = way_.back();
      if (const std::int32_t c = unseen_behind(j); c >= 0) {
        visit(c);
        continue;
      }
      way_.pop_back();
      if (lowest_.back() == seen_[at(j)]) end_block(j);
      const std::int32_t low = lowest_.back();
      lowest_.pop_back();
      if (!way_.empty()) lowest_.back() = std::min(lowest_.back(), low);
    }
  }

  void visit(std::int32_t j) {
    stops_set_up::at_row(visited_);
    next_[at(j)] = a_.begin[j];
    lowest_.push_back(seen_[at(j)] = visited_++);
    way_.push_back(j), open_.push_back(j);
  }

  /// Of the columns that j leads to the next one that nobody has seen; where there is none, -1.
  std::int32_t unseen_behind(std::int32_t j) {
    std::int32_t& k = next_[at(j)];
    std::int32_t low = lowest_.back();
    for (; k < a_.begin[j + 1]; ++k) {
      const std::int32_t c = rows_.column_of(a_.row[k]);
      if (seen_[at(c)] == unseen) break;
      if (block_of_[at(c)] == unseen) low = std::min(low, seen_[at(c)]);
    }
    lowest_.back() = low;
    return k < a_.begin[j + 1] ? rows_.column_of(a_.row[k]) : -1;
  }

  /// Nothing that j leads to leads back to before it: what was seen since and has no block is one with it.
  void end_block(std::int32_t j) {
    std::int32_t c = -1;
    do {
      c = open_.back();
      open_.pop_back();
      block_of_[at(c)] = count_;
    } while (c != j);
    ++count_;
  }

  const columns& a_;
  const transversal& rows_;
  std::vector<std::int32_t> next_, seen_, block_of_, way_, lowest_, open_;
  std::int32_t visited_ = 0, count_ = 0;
};

/// The rows of a block in the order of its columns, or ascending where they have the same numbers.
void put_rows(const columns& a, const transversal& rows, block_form& f) {
  f.row_at.resize(at(a.n));
  std::vector<std::int32_t> row_of(at(a.n));
  for (std::int32_t i = 0; i < a.n; ++i) row_of[at(rows.column_of(i))] = i;
  for (index_t b = 0; b < f.blocks(); ++b) {
    const auto first = f.row_at.begin() + f.begin[at(b)], last = f.row_at.begin() + f.begin[at(b + 1)];
    const auto columns_of = f.column_at.begin() + f.begin[at(b)];
    std::copy_n(columns_of, last - first, first);
    std::ranges::transform(first, last, first, [&](std::int32_t j) { return row_of[at(j)]; });
    std::vector<std::int32_t> ascending(first, last);
    std::ranges::sort(ascending);
    if (std::equal(ascending.begin(), ascending.end(), columns_of)) std::ranges::copy(ascending, first);
  }
}

} // namespace

index_t block_form::largest() const {
  index_t most = 0;
  for (index_t b = 0; b < blocks(); ++b) most = std::max(most, size_of(b));
  return most;
}

/// The search ends a block behind all those that it leads to, whose rows it has entries in: they stand before it.
block_form find_blocks(const columns& a, const transversal& rows) {
  component_search search(a, rows);
  const std::vector<std::int32_t> block_of = search.run();
  block_form f;
  f.begin.assign(at(search.count() + 1), 0);
  if (search.count() <= 1) return f.begin.back() = static_cast<std::int32_t>(a.n), f;
  for (const std::int32_t b : block_of) ++f.begin[at(b + 1)];
  std::partial_sum(f.begin.begin(), f.begin.end(), f.begin.begin());
  f.column_at.resize(at(a.n));
  std::vector<std::int32_t> next(f.begin.begin(), f.begin.end() - 1);
  for (std::int32_t j = 0; j < a.n; ++j) f.column_at[at(next[at(block_of[at(j)])]++)] = j;
  put_rows(a, rows, f);
  return f;
}

} // namespace furrow::lu
