// SPDX-License-Identifier: BSD-3-Clause
#include "features.hpp"

#include "core/counted.hpp"
#include "core/dominance.hpp"
#include "core/row_sum.hpp"
#include "core/set_up_part.hpp"
#include "core/symmetry.hpp"
#include "matrix/rows.hpp"
#include "preconditioners/lu/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

struct counts {
  index_t zero = 0, negative = 0, small = 0, dominant = 0, zero_sums = 0;
  double largest = 0, least = std::numeric_limits<double>::infinity();
  double largest_diagonal = 0, least_diagonal = least;

  void add(const counts& c) {
    zero += c.zero, negative += c.negative, small += c.small, dominant += c.dominant, zero_sums += c.zero_sums;
    largest = std::max(largest, c.largest), least = std::min(least, c.least);
    largest_diagonal = std::max(largest_diagonal, c.largest_diagonal);
    least_diagonal = std::min(least_diagonal, c.least_diagonal);
  }
};

template <class V> void look_at_row(const row_view<V>& a, index_t i, counts& c) {
  const std::int32_t* const col = a.col.data + a.begin(i);
  const V* const val = a.val.data + a.begin(i);
  const index_t length = a.end(i) - a.begin(i);
  double diagonal = 0, size = 0, sum = 0;
  for (index_t k = 0; k < length; ++k) {
    const double v = double(val[k]);
    diagonal = col[k] == i ? v : diagonal;
    size = std::max(size, std::abs(v));
    sum += v;
  }
  const double others = sum_of_row(length, [&](index_t k) { return col[k] == i ? 0 : std::abs(double(val[k])); });
  c.zero += diagonal == 0;
  c.negative += diagonal < 0;
  c.small += diagonal != 0 && std::abs(diagonal) < 1e-10 * size;
  c.dominant += dominates(std::abs(diagonal), others);
  const double rounding = 16 * double(length + 2) * std::numeric_limits<V>::epsilon();
  c.zero_sums += std::abs(sum) <= rounding * (std::abs(diagonal) + others);
  if (size > 0) c.largest = std::max(c.largest, size), c.least = std::min(c.least, size);
  const double own = std::abs(diagonal);
  if (own > 0)
    c.largest_diagonal = std::max(c.largest_diagonal, own), c.least_diagonal = std::min(c.least_diagonal, own);
}

/// Where the rows begin: an addition a row where their lengths are known.
template <class V> host_array<index_t> offsets_of(const coo<V>& a, const stats& s) {
  if (s.row_length.empty()) return offsets_of_rows<index_t>(a.row, a.shape.rows);
  return offsets_of_lengths(as_cview(s.row_length));
}

features put_together(const counts& all, const stats& s, bool symmetric) {
  features f;
  f.rows = s.shape.rows, f.more_columns = s.shape.cols - s.shape.rows, f.nnz = s.nnz, f.longest_row = s.row_max;
  f.symmetric = symmetric && f.square(); // also where nobody is to ask
  f.zero_diagonal = all.zero, f.negative_diagonal = all.negative, f.small_diagonal = all.small;
  f.dominant = all.dominant, f.zero_sums = all.zero_sums;
  f.scales = all.largest > 0 ? all.largest / all.least : 1;
  f.diagonal_scales = all.largest_diagonal > 0 ? all.largest_diagonal / all.least_diagonal : 1;
  f.diagonals = s.diagonals;
  f.below = s.lower_bandwidth, f.above = s.upper_bandwidth;
  return f;
}

} // namespace

template <class V> features features_of(const coo<V>& a, const stats& s, bool assume_symmetric) {
  const host_array<index_t> row_ptr = offsets_of(a, s);
  const row_view<V> view{a.shape, as_cview(row_ptr), as_cview(a.col), as_cview(a.val)};
  std::vector<counts> parts(static_cast<std::size_t>(std::max<index_t>(a.nnz() / set_up_part, 1)));
  cpu::for_each_task(index_t(parts.size()), [&](index_t p) {
    counts c;
    const index_t last = cpu::part_begin(a.shape.rows, std::ssize(parts), p + 1);
    for (index_t i = cpu::part_begin(a.shape.rows, std::ssize(parts), p); i < last; ++i) look_at_row(view, i, c);
    parts[static_cast<std::size_t>(p)] = c;
  });
  counts all;
  for (const counts& c : parts) all.add(c);
  return put_together(all, s, assume_symmetric || is_symmetric(a, row_ptr));
}

template <class V> features features_of(const matrix_source<V>& a, const stats& s, bool assume_symmetric) {
  if (!a.has_rows()) return features_of(a.triplets(), s, assume_symmetric);
  const rows_look& l = a.look();
  const index_t perhaps = s.shape.rows; // nobody adds them up
  return put_together(
      {l.zero_diagonal, l.negative_diagonal, l.small_diagonal, l.dominant, perhaps, l.largest_row, l.least_row}, s,
      assume_symmetric || a.is_symmetric());
}

/// Rows are the columns of A', whose blocks are those of A.
template <class V> void find_diagonal_blocks(const coo<V>& a, features& f) {
  if (a.nnz() > std::numeric_limits<std::int32_t>::max()) return;
  lu::columns pattern{
      a.shape.rows, host_array<std::int32_t>(a.shape.rows + 1, 0), host_array<std::int32_t>(a.nnz()), {}, false};
  std::int32_t entries = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.val[k] == 0) continue;
    pattern.row[entries++] = a.col[k];
    ++pattern.begin[a.row[k] + 1];
  }
  for (index_t i = 0; i < a.shape.rows; ++i) pattern.begin[i + 1] += pattern.begin[i];
  constexpr index_t rounds = 64; // 6 to 35 of thousands of hidden blocks
  const lu::transversal rows = lu::transversal_of(pattern, rounds);
  if (rows.without >= 0) return;
  const lu::block_form form = lu::find_blocks(pattern, rows);
  f.blocks = form.blocks(), f.largest_block = form.largest();
  for (index_t b = 0; b < form.blocks(); ++b) f.in_blocks += 2.0 / 3 * std::pow(double(form.size_of(b)), 3);
}

template <class V> double largest_column_sum(const coo<V>& a) {
  std::vector<double> sum(static_cast<std::size_t>(a.shape.cols), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) sum[a.col[k]] += std::abs(double(a.val[k]));
  return sum.empty() ? 0 : *std::ranges::max_element(sum);
}

std::string describe(const features& f) {
  const std::string apart = std::isfinite(f.scales) ? fmt::format("{:.1e}", f.scales) : "more than all numbers";
  if (!f.square())
    return fmt::format("{} for {}, sizes of rows differ by {}", counted(f.rows, "equation"),
                       counted(f.rows + f.more_columns, "unknown"), apart);
  const double percent = f.rows > 0 ? 100 * double(f.dominant) / double(f.rows) : 0;
  std::string text = f.symmetric ? "symmetric" : "not symmetric";
  if (f.positive_diagonal()) text += ", positive diagonal";
  else if (f.negative_only()) text += ", negative diagonal";
  else
    text += fmt::format(", {} and {} on the diagonal", counted(f.zero_diagonal, "zero"),
                        counted(f.negative_diagonal, "negative entry"));
  if (f.blocks > 1)
    text += fmt::format(", {} diagonal blocks, the largest of {}", count_text(f.blocks),
                        counted_text(f.largest_block, "row"));
  return text + fmt::format(", {:.0f} % of the rows dominant, sizes of rows differ by {}", percent, apart);
}

template features features_of(const coo<double>&, const stats&, bool);
template features features_of(const matrix_source<double>&, const stats&, bool);
template features features_of(const matrix_source<float>&, const stats&, bool);
template void find_diagonal_blocks(const coo<double>&, features&);
template void find_diagonal_blocks(const coo<float>&, features&);
template double largest_column_sum(const coo<double>&);
template double largest_column_sum(const coo<float>&);
template features features_of(const coo<float>&, const stats&, bool);

} // namespace furrow
