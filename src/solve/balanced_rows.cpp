// SPDX-License-Identifier: BSD-3-Clause
#include "balanced_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace furrow {
namespace {

/// Rows that entries join, directly or by others. R. E. Tarjan, J. van Leeuwen, Worst-case analysis of set union
/// algorithms, 1984: by halving paths, the smaller number becomes the root.
class joined_rows {
public:
  explicit joined_rows(index_t rows) : above_(static_cast<std::size_t>(rows)) {
    std::iota(above_.begin(), above_.end(), 0);
  }
  std::int32_t root(std::int32_t i) {
    while (above_[i] != i) i = above_[i] = above_[above_[i]];
    return i;
  }
  void join(std::int32_t i, std::int32_t j) {
    if (above_[i] == above_[j]) return; // nearly always, once they are joined
    i = root(i), j = root(j);
    above_[std::max(i, j)] = std::min(i, j);
  }

private:
  std::vector<std::int32_t> above_;
};

enum kind : std::size_t { others, positive }; ///< of rows, by their diagonal

/// Of entries of a column: their sum, that of their absolute values, and how many there are.
struct column_sum {
  double sum = 0, size = 0, entries = 0;

  void add(double v) { sum += v, size += std::abs(v), entries += v != 0; }
  column_sum operator+(const column_sum& o) const { return {sum + o.sum, size + o.size, entries + o.entries}; }
  /// Whether they add up to zero but for rounding: of each entry, u times it, or of a diagonal entry that was made by
  /// adding up the others in this precision, which are half of `size`, u times that for each sum; and of the sum here.
  bool is_zero(double u) const {
    constexpr double here = std::numeric_limits<double>::epsilon() / 2;
    return std::abs(sum) <= (u * std::max(1.0, (entries - 2) / 2) + here * entries) * size;
  }
};

/// By the kind of the rows.
using column_sums = std::array<column_sum, 2>;

/// Of a connected part.
struct part_of_rows {
  std::array<index_t, 2> rows{};
  std::array<bool, 2> balanced{true, true};
  bool all_balanced = true;
  std::array<std::int32_t, 2> set{-1, -1};
};

} // namespace

template <class V> balanced_rows balanced_rows_of(const coo<V>& a) {
  const index_t n = a.shape.rows;
  joined_rows joined(n);
  std::vector<kind> kind_of(static_cast<std::size_t>(n), others);
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.val[k] == V(0)) continue;
    if (a.row[k] != a.col[k]) joined.join(a.row[k], a.col[k]);
    else if (a.val[k] > V(0)) kind_of[a.row[k]] = positive;
  }
  std::vector<column_sums> of_column(static_cast<std::size_t>(n));
  for (index_t k = 0; k < a.nnz(); ++k) of_column[a.col[k]][kind_of[a.row[k]]].add(double(a.val[k]));
  constexpr double unit = std::numeric_limits<V>::epsilon() / 2;
  std::vector<part_of_rows> parts(static_cast<std::size_t>(n)); // by roots
  for (index_t j = 0; j < n; ++j) {
    part_of_rows& part = parts[joined.root(std::int32_t(j))];
    const column_sums& sums = of_column[j];
    ++part.rows[kind_of[j]];
    for (const kind k : {others, positive}) part.balanced[k] &= sums[k].is_zero(unit);
    part.all_balanced &= (sums[others] + sums[positive]).is_zero(unit);
  }
  balanced_rows found;
  const auto begin_set = [&found](index_t rows) {
    found.rows_of.push_back(rows);
    return std::int32_t(found.rows_of.size() - 1);
  };
  for (part_of_rows& part : parts) {
    bool any = false;
    for (const kind k : {others, positive})
      if (part.rows[k] > 0 && part.balanced[k]) part.set[k] = begin_set(part.rows[k]), any = true;
    if (!any && part.rows[others] + part.rows[positive] > 0 && part.all_balanced)
      part.set[others] = part.set[positive] = begin_set(part.rows[others] + part.rows[positive]);
  }
  if (found.none()) return found;
  found.set_of.resize(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) found.set_of[i] = parts[joined.root(std::int32_t(i))].set[kind_of[i]];
  return found;
}

template <class V> double take_means_out(const balanced_rows& sets, view<V> b) {
  std::vector<double> mean(sets.rows_of.size(), 0.0);
  for (index_t i = 0; i < b.size; ++i)
    if (sets.set_of[i] >= 0) mean[sets.set_of[i]] += double(b[i]);
  double taken = 0;
  for (std::size_t s = 0; s < mean.size(); ++s) {
    const auto rows = double(sets.rows_of[s]);
    mean[s] /= rows;
    taken = std::hypot(taken, mean[s] * std::sqrt(rows));
  }
  for (index_t i = 0; i < b.size; ++i)
    if (sets.set_of[i] >= 0) b[i] = V(double(b[i]) - mean[sets.set_of[i]]);
  return taken;
}

template balanced_rows balanced_rows_of(const coo<double>&);
template balanced_rows balanced_rows_of(const coo<float>&);
template double take_means_out(const balanced_rows&, view<double>);
template double take_means_out(const balanced_rows&, view<float>);

} // namespace furrow
