// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include "backends/cpu/isa.hpp"
#include "core/look.hpp"
#include "core/row_offsets.hpp"

#include <algorithm>
#include <bit>

namespace furrow {
namespace {

constexpr index_t piece_rows = stencil_plan::rows;

index_t pieces_of(index_t rows) { return (rows + piece_rows - 1) / piece_rows; }

/// body(piece, first_row, last_row), one task a piece.
template <class F> void for_each_piece_of_rows(index_t rows, F&& body) {
  cpu::for_each_task(pieces_of(rows),
                     [&](index_t p) { body(p, p * piece_rows, std::min(rows, (p + 1) * piece_rows)); });
}

/// The first k of [first, last) whose entry is not that of k - length one column to the right, or `last`.
template <class V>
index_t first_other(const std::int32_t* col, const V* val, index_t first, index_t last, index_t length) {
  using bits = bits_of<V>;
  const auto other = [&](index_t k) {
    return bits(static_cast<std::uint32_t>(col[k] - col[k - length] - 1)) |
           (std::bit_cast<bits>(val[k]) ^ std::bit_cast<bits>(val[k - length]));
  };
  index_t k = first;
  cpu::widest([&]() FURROW_INLINE {
    constexpr index_t together = 32;
    for (bits any = 0; any == 0 && k + together <= last; k += any == 0 ? together : 0)
      for (index_t j = 0; j < together; ++j) any |= other(k + j);
  });
  while (k < last && other(k) == 0) ++k;
  return k;
}

/// How many rows from `row` on, before `last`, have the stencil of the row before them each: looked at 1, 2, 4, ... at
/// a time, so that a loop over the entries of many rows takes the place of one for each.
template <class V> index_t rows_that_repeat(const sight<V>& a, const index_t* row_ptr, index_t row, index_t last) {
  const index_t length = row_ptr[row] - row_ptr[row - 1], from = row;
  for (index_t together = 1; row < last; together *= 2) {
    const index_t begin = row_ptr[row], most = std::min(together, last - row);
    index_t rows = 0;
    while (rows < most && row_ptr[row + rows + 1] - begin == (rows + 1) * length) ++rows;
    const index_t end = begin + rows * length, same = first_other(a.col.data, a.val.data, begin, end, length);
    if (same < end) return row - from + (same - begin) / length;
    row += rows;
    if (rows < together) break;
  }
  return row - from;
}

/// Sums of counts before each piece, and of all.
std::vector<index_t> sums_before(std::vector<index_t> count) {
  index_t sum = 0;
  for (index_t& c : count) {
    const index_t here = c;
    c = sum;
    sum += here;
  }
  count.push_back(sum);
  return count;
}

template <class V> stencil_plan plan_of(const sight<V>& a) {
  const index_t rows = a.shape.rows;
  const auto pieces = static_cast<std::size_t>(pieces_of(rows));
  stencil_plan plan{offsets_of_rows<index_t>(a.row, rows), {}, host_array<std::uint16_t>(rows), {}};
  const index_t* const row_ptr = plan.row_ptr.data();

  std::vector<std::vector<seen_stencil>> seen(pieces); // by each piece, which numbers them for itself
  for_each_piece_of_rows(rows, [&](index_t p, index_t first, index_t last) {
    stencil_set<V, std::int32_t> set(a.col.data, a.val.data);
    for (index_t r = first; r < last;) {
      const auto number = static_cast<std::uint16_t>(set.add({r, row_ptr[r], row_ptr[r + 1] - row_ptr[r]}));
      const index_t more = rows_that_repeat(a, row_ptr, r + 1, last);
      set.add_more(more);
      std::fill_n(plan.number.begin() + r, more + 1, number);
      r += more + 1;
    }
    seen[p] = set.found();
  });
  stencil_set<V, std::int32_t> all(a.col.data, a.val.data);
  std::vector<std::vector<std::size_t>> in_all(pieces);
  for (std::size_t p = 0; p < pieces; ++p)
    for (const seen_stencil& s : seen[p]) in_all[p].push_back(all.merge(s));

  const auto chosen = choose_stencils(all.found(), rows);
  std::vector<std::uint16_t> number(all.found().size(), static_cast<std::uint16_t>(chosen.size()));
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    plan.table.push_back(all.found()[chosen[k]]);
    number[chosen[k]] = static_cast<std::uint16_t>(k);
  }
  std::vector<index_t> beside(pieces);
  for_each_piece_of_rows(rows, [&](index_t p, index_t first, index_t last) {
    std::vector<std::uint16_t> final_number;
    for (const std::size_t n : in_all[p]) final_number.push_back(number[n]);
    index_t count = 0;
    for (index_t r = first; r < last; ++r) {
      plan.number[r] = final_number[plan.number[r]];
      count += plan.number[r] == chosen.size();
    }
    beside[p] = count;
  });
  plan.rows_before = sums_before(std::move(beside));
  return plan;
}

template <class N, class V> stencil<V, N, host_array> stencil_of(const sight<V>& a, const stencil_plan& plan) {
  const index_t rows = a.shape.rows;
  stencil<V, N, host_array> made;
  made.shape = a.shape;
  made.number = host_array<N>(rows);
  made.start = host_array<std::int32_t>(static_cast<index_t>(plan.table.size()) + 1);
  std::int32_t places = 0;
  for (std::size_t s = 0; s < plan.table.size(); ++s) {
    made.start[s] = places;
    places += static_cast<std::int32_t>(plan.table[s].first.count);
  }
  made.start[plan.table.size()] = places;
  made.offset = host_array<std::int32_t>(places);
  made.val = host_array<V>(places);
  for (std::size_t s = 0; s < plan.table.size(); ++s) {
    const row_entries& from = plan.table[s].first;
    for (index_t k = 0; k < from.count; ++k) {
      made.offset[made.start[s] + k] = static_cast<std::int32_t>(a.col[from.begin + k] - from.row);
      made.val[made.start[s] + k] = a.val[from.begin + k];
    }
  }

  const auto length = [&](index_t row) { return plan.row_ptr[row + 1] - plan.row_ptr[row]; };
  const index_t beside = plan.rows_before.back();
  made.rest_row = host_array<std::int32_t>(beside);
  made.rest.shape = {beside, a.shape.cols};
  made.rest.row_ptr = host_array<index_t>(beside + 1);
  for_each_piece_of_rows(rows, [&](index_t p, index_t first, index_t last) {
    index_t at = plan.rows_before[p];
    for (index_t r = first; r < last; ++r) {
      made.number[r] = static_cast<N>(plan.number[r]);
      if (plan.number[r] == plan.table.size()) made.rest_row[at++] = static_cast<std::int32_t>(r);
    }
  });
  made.rest.row_ptr[0] = 0;
  for (index_t k = 0; k < beside; ++k) made.rest.row_ptr[k + 1] = made.rest.row_ptr[k] + length(made.rest_row[k]);
  const index_t entries = made.rest.row_ptr[beside];
  made.rest.col = host_array<std::int32_t>(entries);
  made.rest.val = host_array<V>(entries);
  cpu::for_each_range(beside, 1 << 12, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      const index_t from = plan.row_ptr[made.rest_row[k]], to = made.rest.row_ptr[k], count = length(made.rest_row[k]);
      std::copy_n(a.col.data + from, count, made.rest.col.data() + to);
      std::copy_n(a.val.data + from, count, made.rest.val.data() + to);
    }
  });
  return made;
}

} // namespace

template <class V> stencil_plan plan_stencils(const coo<V>& a) { return plan_of(sight_of(a)); }
template <class V> stencil_plan plan_stencils(const borrowed_coo<V>& a) { return plan_of(sight_of(a)); }
template <class N, class V> stencil<V, N, host_array> to_stencil(const coo<V>& a, const stencil_plan& plan) {
  return stencil_of<N>(sight_of(a), plan);
}
template <class N, class V> stencil<V, N, host_array> to_stencil(const borrowed_coo<V>& a, const stencil_plan& plan) {
  return stencil_of<N>(sight_of(a), plan);
}

template <class V, class N> coo<V> to_coo(const stencil<V, N, host_array>& a) {
  const index_t rows = a.shape.rows;
  const auto none = static_cast<N>(stencils_of(a));
  const auto first_beside = [&](index_t row) {
    return std::lower_bound(a.rest_row.begin(), a.rest_row.end(), row) - a.rest_row.begin();
  };
  std::vector<index_t> count(static_cast<std::size_t>(pieces_of(rows)));
  for_each_piece_of_rows(rows, [&](index_t p, index_t first, index_t last) {
    index_t sum = a.rest.row_ptr[first_beside(last)] - a.rest.row_ptr[first_beside(first)];
    for (index_t r = first; r < last; ++r)
      if (const N n = a.number[r]; n != none) sum += a.start[n + 1] - a.start[n];
    count[p] = sum;
  });
  const auto before = sums_before(std::move(count));
  const index_t nnz = before.back();
  coo<V> result{a.shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  for_each_piece_of_rows(rows, [&](index_t p, index_t first, index_t last) {
    index_t at = before[p], beside = a.rest.row_ptr[first_beside(first)], position = first_beside(first);
    const auto put = [&](index_t row, index_t col, V v) {
      result.row[at] = static_cast<std::int32_t>(row);
      result.col[at] = static_cast<std::int32_t>(col);
      result.val[at++] = v;
    };
    for (index_t r = first; r < last; ++r) {
      const N n = a.number[r];
      if (n == none)
        for (++position; beside < a.rest.row_ptr[position]; ++beside) put(r, a.rest.col[beside], a.rest.val[beside]);
      else
        for (std::int32_t k = a.start[n]; k < a.start[n + 1]; ++k) put(r, r + a.offset[k], a.val[k]);
    }
  });
  return result;
}

template stencil_plan plan_stencils(const coo<double>&);
template stencil_plan plan_stencils(const coo<float>&);
template stencil_plan plan_stencils(const borrowed_coo<double>&);
template stencil_plan plan_stencils(const borrowed_coo<float>&);
#define FURROW_STENCIL(V, N)                                                                                           \
  template stencil<V, N, host_array> to_stencil<N>(const coo<V>&, const stencil_plan&);                                \
  template stencil<V, N, host_array> to_stencil<N>(const borrowed_coo<V>&, const stencil_plan&);                       \
  template coo<V> to_coo(const stencil<V, N, host_array>&);
FURROW_STENCIL(double, std::uint8_t)
FURROW_STENCIL(double, std::uint16_t)
FURROW_STENCIL(float, std::uint8_t)
FURROW_STENCIL(float, std::uint16_t)
#undef FURROW_STENCIL

} // namespace furrow
