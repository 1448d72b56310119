// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include "backends/cpu/isa.hpp"
#include "core/entries_before.hpp"
#include "core/look.hpp"
#include "core/row_offsets.hpp"
#include "formats/sell/slicing.hpp"

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

/// Where the rows of sorted triplets begin, by a search, and how many entries each has;
struct rows_by_length {
  cview<std::int32_t> row, length;
  index_t begin(index_t r) const { return entries_before(row, r); }
  index_t count(index_t r) const { return length[r]; }
};
/// the same of compressed rows.
struct rows_by_offset {
  cview<std::int32_t> row_ptr;
  index_t begin(index_t r) const { return row_ptr[r]; }
  index_t count(index_t r) const { return index_t(row_ptr[r + 1]) - row_ptr[r]; }
};

/// How many of the rows [first, last) have `count` entries, up to the first that has not.
template <class Rows> index_t rows_as_long(const Rows& rows, index_t first, index_t last, index_t count) {
  index_t r = first;
  cpu::widest([&]() FURROW_INLINE {
    constexpr index_t together = 32;
    for (index_t other = 0; other == 0 && r + together <= last; r += other == 0 ? together : 0)
      for (index_t j = 0; j < together; ++j) other |= rows.count(r + j) ^ count;
  });
  while (r < last && rows.count(r) == count) ++r;
  return r - first;
}

/// How many rows from `row` on, before `last`, have the stencil of the row before them each, which has `length`
/// entries: looked at 1, 2, 4, ... at a time, so that a loop over the entries of many rows takes the place of one for
/// each. begin: where `row` begins.
template <class V, class Rows>
index_t rows_that_repeat(const sight<V>& a, const Rows& rows, index_t row, index_t last, index_t begin,
                         index_t length) {
  const index_t from = row;
  for (index_t together = 1; row < last; together *= 2) {
    const index_t most = std::min(together, last - row), count = rows_as_long(rows, row, row + most, length);
    const index_t end = begin + count * length, same = first_other(a.col.data, a.val.data, begin, end, length);
    if (same < end) return row - from + (same - begin) / length;
    row += count;
    begin = end;
    if (count < most) break;
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

template <class V, class Rows> stencil_plan plan_of(const sight<V>& a, const Rows& rows_of) {
  const index_t rows = a.shape.rows;
  const auto pieces = static_cast<std::size_t>(pieces_of(rows));
  stencil_plan plan{{}, host_array<std::uint16_t>(rows), std::vector<std::vector<std::uint16_t>>(pieces), {}, {}};
  std::vector<std::vector<seen_stencil>> seen(pieces); // by each piece
  for_each_piece_of_rows(rows, [&](index_t p, index_t first, index_t last) {
    stencil_set<V, std::int32_t> set(a.col.data, a.val.data);
    index_t begin = rows_of.begin(first);
    for (index_t r = first; r < last;) {
      const index_t length = rows_of.count(r);
      const auto number = static_cast<std::uint16_t>(set.add({r, begin, length}));
      const index_t more = rows_that_repeat(a, rows_of, r + 1, last, begin + length, length);
      set.add_more(more);
      std::fill_n(plan.seen.begin() + r, more + 1, number);
      r += more + 1;
      begin += (more + 1) * length;
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
  for (std::size_t p = 0; p < pieces; ++p)
    for (std::size_t k = 0; k < in_all[p].size(); ++k) {
      plan.number[p].push_back(number[in_all[p][k]]);
      if (plan.number[p].back() == chosen.size()) beside[p] += seen[p][k].uses;
    }
  plan.rows_before = sums_before(std::move(beside));
  return plan;
}

template <class N, class V, class Rows>
stencil<V, N, host_array> stencil_of(const sight<V>& a, const Rows& rows_of, const stencil_plan& plan) {
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

  const index_t beside = plan.rows_before.back();
  made.rest_row = host_array<std::int32_t>(beside);
  made.rest.shape = {beside, a.shape.cols};
  made.rest.row_ptr = host_array<index_t>(beside + 1);
  host_array<index_t> from(beside); // where its entries are
  for_each_piece_of_rows(rows, [&](index_t p, index_t first, index_t last) {
    const std::uint16_t *const number = plan.number[p].data(), *const seen = plan.seen.data();
    for (index_t r = first; r < last; ++r) made.number[r] = static_cast<N>(number[seen[r]]);
    index_t at = plan.rows_before[p];
    if (at == plan.rows_before[p + 1]) return;
    index_t begin = rows_of.begin(first);
    for (index_t r = first; r < last; ++r) {
      const index_t count = rows_of.count(r);
      if (number[seen[r]] == plan.table.size()) {
        made.rest_row[at] = static_cast<std::int32_t>(r);
        from[at++] = begin;
      }
      begin += count;
    }
  });
  made.rest.row_ptr[0] = 0;
  for (index_t k = 0; k < beside; ++k)
    made.rest.row_ptr[k + 1] = made.rest.row_ptr[k] + rows_of.count(made.rest_row[k]);
  const index_t entries = made.rest.row_ptr[beside];
  made.rest.col = host_array<std::int32_t>(entries);
  made.rest.val = host_array<V>(entries);
  cpu::for_each_range(beside, 1 << 12, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      const index_t to = made.rest.row_ptr[k], count = made.rest.row_ptr[k + 1] - to;
      std::copy_n(a.col.data + from[k], count, made.rest.col.data() + to);
      std::copy_n(a.val.data + from[k], count, made.rest.val.data() + to);
    }
  });
  return made;
}

template <class V> rows_by_length rows_of(const coo<V>& a, const stencil_plan& plan) {
  return {as_cview(a.row), as_cview(plan.length)};
}
template <class V> rows_by_length rows_of(const measured_coo<V>& a, const stencil_plan&) {
  return {as_cview(a.row), a.row_length};
}
template <class V> rows_by_offset rows_of(const borrowed_rows<V>& a, const stencil_plan&) { return {a.row_ptr}; }

} // namespace

template <class V> stencil_plan plan_stencils(const coo<V>& a) {
  auto length = lengths_of(row_offsets(a));
  stencil_plan plan = plan_of(sight_of(a), rows_by_length{as_cview(a.row), as_cview(length)});
  plan.length = std::move(length);
  return plan;
}
template <class V> stencil_plan plan_stencils(const measured_coo<V>& a) { return plan_of(sight_of(a), rows_of(a, {})); }
template <class V> stencil_plan plan_stencils(const borrowed_rows<V>& a) {
  return plan_of(sight_of(a), rows_of(a, {}));
}
template <class N, class V> stencil<V, N, host_array> to_stencil(const coo<V>& a, const stencil_plan& plan) {
  return stencil_of<N>(sight_of(a), rows_of(a, plan), plan);
}
template <class N, class V> stencil<V, N, host_array> to_stencil(const measured_coo<V>& a, const stencil_plan& plan) {
  return stencil_of<N>(sight_of(a), rows_of(a, plan), plan);
}
template <class N, class V> stencil<V, N, host_array> to_stencil(const borrowed_rows<V>& a, const stencil_plan& plan) {
  return stencil_of<N>(sight_of(a), rows_of(a, plan), plan);
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

#define FURROW_PLAN(V)                                                                                                 \
  template stencil_plan plan_stencils(const coo<V>&);                                                                  \
  template stencil_plan plan_stencils(const measured_coo<V>&);                                                         \
  template stencil_plan plan_stencils(const borrowed_rows<V>&);
FURROW_PLAN(double)
FURROW_PLAN(float)
#undef FURROW_PLAN
#define FURROW_STENCIL(V, N)                                                                                           \
  template stencil<V, N, host_array> to_stencil<N>(const coo<V>&, const stencil_plan&);                                \
  template stencil<V, N, host_array> to_stencil<N>(const measured_coo<V>&, const stencil_plan&);                       \
  template stencil<V, N, host_array> to_stencil<N>(const borrowed_rows<V>&, const stencil_plan&);                      \
  template coo<V> to_coo(const stencil<V, N, host_array>&);
FURROW_STENCIL(double, std::uint8_t)
FURROW_STENCIL(double, std::uint16_t)
FURROW_STENCIL(float, std::uint8_t)
FURROW_STENCIL(float, std::uint16_t)
#undef FURROW_STENCIL

} // namespace furrow
