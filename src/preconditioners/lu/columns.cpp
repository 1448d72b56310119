// SPDX-License-Identifier: BSD-3-Clause
#include "columns.hpp"

#include "core/check.hpp"
#include "core/symmetry.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace furrow::lu {
namespace {

constexpr int farthest = 1000; ///< exponent of a scale: it and its inverse are normal numbers

/// The exponent of a number that is not 0: that of its bits where they say it, a sixth of the time of the library's.
int exponent_of(double v) {
  const int stored = static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52 & 0x7ff);
  return stored > 0 && stored < 0x7ff ? stored - 1023 : std::ilogb(v);
}

/// 2^e where that is a normal number.
double power_of_two(int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + e) << 52); }

/// v 2^e, by one product where 2^e is a normal number.
double scaled(double v, int e) { return e >= -farthest && e <= farthest ? v * power_of_two(e) : std::ldexp(v, e); }

/// Asks whether to go on at every millionth entry, which a matrix without zeros has many of.
void ask_at_entry(index_t k) {
  if ((k & ((1 << 20) - 1)) == 0) stops_set_up::at_row(0);
}

/// Exponents r and c for which the largest of |A_ij| 2^r_i of each row, then that of |A_ij| 2^(r_i + c_j) of each
/// column, is near 1. Rows first: where rows alone are badly scaled, elements of x then keep their sizes.
struct exponents {
  std::vector<int> r, c;
  index_t nonzeros = 0;
};

template <class V> exponents find_exponents(const coo<V>& a) {
  constexpr int none = std::numeric_limits<int>::min() / 4;
  const auto n = static_cast<std::size_t>(a.shape.rows);
  const auto level = [](std::vector<int>& most) {
    for (int& m : most) m = m != none ? std::clamp(-m, -farthest, farthest) : 0;
  };
  exponents f{std::vector<int>(n, none), std::vector<int>(n, none)};
  std::vector<int> each(static_cast<std::size_t>(a.nnz()));
  for (index_t k = 0; k < a.nnz();) { // entries of a row lie together, mostly
    const std::int32_t i = a.row[k];
    int most = none;
    stops_set_up::at_row(i);
    for (; k < a.nnz() && a.row[k] == i; ++k) {
      const int e = a.val[k] != 0 ? exponent_of(double(a.val[k])) : none;
      each[static_cast<std::size_t>(k)] = e;
      most = std::max(most, e);
      f.nonzeros += e != none;
    }
    int& m = f.r[static_cast<std::size_t>(i)];
    m = std::max(m, most);
  }
  level(f.r);
  for (index_t k = 0; k < a.nnz(); ++k) {
    ask_at_entry(k);
    const int e = each[static_cast<std::size_t>(k)];
    int& m = f.c[static_cast<std::size_t>(a.col[k])];
    if (e != none) m = std::max(m, e + f.r[static_cast<std::size_t>(a.row[k])]);
  }
  level(f.c);
  return f;
}

} // namespace

namespace {

/// Refuses more entries than SuperLU's orders, which count those of A + A' and more in 32 bits, can serve.
void check_count(index_t nonzeros) {
  check(nonzeros <= std::numeric_limits<std::int32_t>::max() / 32, fault::input,
        "the matrix has {} entries, and a factorisation counts those of its factors in 32 bits: take an iterative "
        "solver",
        nonzeros);
}

} // namespace

template <class V> scaled_columns scale_and_sort(const coo<V>& a) {
  const index_t n = a.shape.rows;
  const auto [r, c, nonzeros] = find_exponents(a);
  check_count(nonzeros);
  scaled_columns s{
      {n, host_array<std::int32_t>(n + 1, 0), host_array<std::int32_t>(nonzeros), host_array<double>(nonzeros), true},
      host_array<double>(n),
      host_array<double>(n)};
  for (index_t i = 0; i < n; ++i) {
    s.row_scale[i] = power_of_two(r[static_cast<std::size_t>(i)]);
    s.col_scale[i] = power_of_two(c[static_cast<std::size_t>(i)]);
  }
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.val[k] != 0) ++s.a.begin[a.col[k] + 1];
  for (index_t j = 0; j < n; ++j) s.a.begin[j + 1] += s.a.begin[j];
  host_array<std::int32_t> next(n);
  std::copy_n(s.a.begin.data(), n, next.data());
  for (index_t k = 0; k < a.nnz(); ++k) {
    ask_at_entry(k);
    if (a.val[k] == 0) continue;
    const std::int32_t i = a.row[k], j = a.col[k], to = next[j]++;
    s.a.row[to] = i;
    s.a.val[to] = scaled(double(a.val[k]), r[static_cast<std::size_t>(i)] + c[static_cast<std::size_t>(j)]);
  }
  stops_set_up::at_row(0);
  index_t q = 0, diagonal = 0; // rows of A in order are the columns of A' in order
  for (index_t k = 0; k < a.nnz() && s.a.symmetric_pattern; ++k) {
    if (a.val[k] == 0) continue;
    diagonal += a.row[k] == a.col[k];
    s.a.symmetric_pattern = q >= s.a.begin[a.row[k]] && q < s.a.begin[a.row[k] + 1] && s.a.row[q] == a.col[k];
    ++q;
  }
  s.a.symmetric_pattern = s.a.symmetric_pattern && diagonal == n;
  return s;
}
template scaled_columns scale_and_sort(const coo<double>&);
template scaled_columns scale_and_sort(const coo<float>&);

template <class V> std::optional<scaled_columns> scale_symmetric(const coo<V>& a) {
  const index_t n = a.shape.rows;
  std::vector<int> d(static_cast<std::size_t>(n));
  host_array<double> diagonal(n);
  index_t positive = 0, lower = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    lower += a.row[k] >= a.col[k] && a.val[k] != 0;
    if (a.row[k] != a.col[k] || !(a.val[k] > 0)) continue;
    d[static_cast<std::size_t>(a.row[k])] = -(exponent_of(double(a.val[k])) >> 1);
    diagonal[a.row[k]] = double(a.val[k]);
    ++positive;
  }
  if (positive != n || !is_symmetric(a)) return {};
  check_count(2 * lower - n);
  scaled_columns s{{n, host_array<std::int32_t>(n + 1, 0), host_array<std::int32_t>(2 * lower - n),
                    host_array<double>(2 * lower - n), true},
                   host_array<double>(n),
                   {}};
  for (index_t i = 0; i < n; ++i) {
    s.row_scale[i] = power_of_two(d[static_cast<std::size_t>(i)]);
    diagonal[i] *= s.row_scale[i] * s.row_scale[i];
  }
  for (index_t k = 0; k < a.nnz(); ++k) {
    const std::int32_t i = a.row[k], j = a.col[k];
    const double v = double(a.val[k]) * s.row_scale[i] * s.row_scale[j];
    if (i > j && !(v * v < diagonal[i] * diagonal[j])) return {};
  }
  const auto each = [&](auto tell) { // in this order the rows of each column ascend
    for (index_t k = 0; k < a.nnz(); ++k) {
      const std::int32_t i = a.row[k], j = a.col[k];
      if (i < j || a.val[k] == 0) continue;
      tell(i, j, k);
      if (i != j) tell(j, i, k);
    }
  };
  each([&](std::int32_t, std::int32_t j, index_t) { ++s.a.begin[j + 1]; });
  for (index_t j = 0; j < n; ++j) s.a.begin[j + 1] += s.a.begin[j];
  host_array<std::int32_t> next(n);
  std::copy_n(s.a.begin.data(), n, next.data());
  each([&](std::int32_t i, std::int32_t j, index_t k) {
    const std::int32_t to = next[j]++;
    s.a.row[to] = i;
    s.a.val[to] = double(a.val[k]) * s.row_scale[i] * s.row_scale[j]; // an overflow: it is not positive definite
  });
  s.col_scale = s.row_scale;
  return s;
}
template std::optional<scaled_columns> scale_symmetric(const coo<double>&);
template std::optional<scaled_columns> scale_symmetric(const coo<float>&);

template <class V> diagonals diagonals_of(const coo<V>& a) {
  std::int32_t below = 0, above = 0;
  index_t positive = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    const std::int32_t under = a.row[k] - a.col[k];
    positive += under == 0 && a.val[k] > 0;
    if (a.val[k] != 0) below = std::max(below, under), above = std::max(above, -under);
  }
  return {{below, above}, positive == a.shape.rows};
}
template diagonals diagonals_of(const coo<double>&);
template diagonals diagonals_of(const coo<float>&);

bandwidth bandwidth_of(const columns& a) {
  bandwidth w;
  for (index_t j = 0; j < a.n; ++j) {
    if (a.begin[j] == a.begin[j + 1]) continue;
    w.above = std::max<index_t>(w.above, j - a.row[a.begin[j]]); // rows ascend
    w.below = std::max<index_t>(w.below, a.row[a.begin[j + 1] - 1] - j);
  }
  return w;
}

columns transposed(const columns& a) {
  columns t{a.n, host_array<std::int32_t>(a.n + 1, 0), host_array<std::int32_t>(a.nnz()), host_array<double>(a.nnz()),
            a.symmetric_pattern};
  for (const std::int32_t i : a.row) ++t.begin[i + 1];
  for (index_t i = 0; i < a.n; ++i) t.begin[i + 1] += t.begin[i];
  host_array<std::int32_t> next(a.n);
  std::copy_n(t.begin.data(), a.n, next.data());
  for (std::int32_t j = 0; j < a.n; ++j)
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) {
      const std::int32_t to = next[a.row[k]]++;
      t.row[to] = j, t.val[to] = a.val[k];
    }
  return t;
}

namespace {

/// The search for augmenting paths. Round by round a tree grows from each column without a row, none meets a column
/// that another one has met, and each ends at the first row that no column has: a round takes a pass over the entries
/// at most, and few are needed, where a search by itself would take that for every column, and one after the other in a
/// round meet most columns before the others begin (A. Pothen, C.-J. Fan, Computing the block triangular form of a
/// sparse matrix, 1990; A. Azad, A. Buluc, A. Pothen, Computing maximum cardinality matchings in parallel on bipartite
/// graphs via tree-grafting, 2017).
class matching {
public:
  explicit matching(const columns& a)
      : a_(a), column_of_(at(a.n), -1), row_of_(at(a.n), -1), seen_(at(a.n), -1), from_(at(a.n), -1), root_of_(at(a.n)),
        free_from_(at(a.n)) {
    for (index_t j = 0; j < a.n; ++j) free_from_[at(j)] = a.begin[j];
  }

  /// Before all others: column j has row j.
  void begin_with_diagonal(index_t j) { column_of_[at(j)] = row_of_[at(j)] = static_cast<std::int32_t>(j); }

  /// Of these columns those that find a row without a column take it, and are erased.
  void take_free_rows(std::vector<std::int32_t>& left) {
    std::erase_if(left, [&](std::int32_t j) { return take_free_row(j); });
  }

  /// Gives some of these columns a row, and others another one where that takes it; these are erased from the list.
  /// Whether there were any; if not, nothing leads to another row.
  bool match_some(std::vector<std::int32_t>& left, std::int32_t round) {
    for (const std::int32_t j : left) seen_[at(j)] = round, root_of_[at(j)] = j;
    met_ = left;
    for (std::size_t q = 0; q < met_.size(); ++q)
      if (const std::int32_t j = met_[q]; row_of_[at(root_of_[at(j)])] < 0) grow(j, round);
    return std::erase_if(left, [&](std::int32_t j) { return row_of_[at(j)] >= 0; }) > 0;
  }

  std::vector<std::int32_t> take() { return std::move(column_of_); }

private:
  void grow(std::int32_t j, std::int32_t round) {
    for (std::int32_t k = a_.begin[j]; k < a_.begin[j + 1]; ++k) {
      const std::int32_t owner = column_of_[at(a_.row[k])];
      if (seen_[at(owner)] == round) continue;
      seen_[at(owner)] = round, from_[at(owner)] = j, root_of_[at(owner)] = root_of_[at(j)];
      if (take_free_row(owner)) return;
      met_.push_back(owner);
    }
  }

  /// Ends the path at a row that no column has. Rows once taken stay taken: each is looked at once in all searches.
  bool take_free_row(std::int32_t j) {
    for (std::int32_t& k = free_from_[at(j)]; k < a_.begin[j + 1]; ++k) {
      std::int32_t row = a_.row[k];
      if (column_of_[at(row)] >= 0) continue;
      while (row >= 0) { // each column takes the row that the next one leaves
        column_of_[at(row)] = j;
        std::swap(row, row_of_[at(j)]);
        j = from_[at(j)];
      }
      return true;
    }
    return false;
  }

  const columns& a_;
  std::vector<std::int32_t> column_of_, row_of_; ///< of a row, of a column
  std::vector<std::int32_t> seen_;               ///< the last round that met a column
  std::vector<std::int32_t> from_, root_of_;     ///< the column that met it, and where that tree began
  std::vector<std::int32_t> free_from_, met_;
};

} // namespace

/// Entries of the diagonal come first: most matrices have all of them, and others few columns left to match.
transversal transversal_of(const columns& a, index_t most_rounds) {
  std::vector<std::int32_t> left;
  for (std::int32_t j = 0; j < a.n; ++j)
    if (!std::binary_search(a.row.data() + a.begin[j], a.row.data() + a.begin[j + 1], j)) left.push_back(j);
  if (left.empty()) return {};
  matching m(a);
  auto next = left.begin();
  for (std::int32_t j = 0; j < a.n; ++j)
    if (next != left.end() && *next == j) ++next;
    else m.begin_with_diagonal(j);
  m.take_free_rows(left);
  for (std::int32_t round = 0; !left.empty(); ++round) {
    stops_set_up::at_row(0);
    if (round == most_rounds || !m.match_some(left, round)) return {{}, left.front()};
  }
  return {m.take(), -1};
}

} // namespace furrow::lu
