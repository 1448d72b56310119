// SPDX-License-Identifier: BSD-3-Clause
#include "assemble_parts.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <cstring>

namespace furrow::io {
namespace {

struct column_value {
  std::int32_t col;
  double val;
};

/// Sorts one row by columns, stably, and sums what shares a column in its order. Returns the length that is left.
index_t tidy_row(std::int32_t* col, double* val, index_t n, std::vector<column_value>& room) {
  bool ascending = true;
  for (index_t k = 1; k < n; ++k) ascending &= col[k - 1] < col[k];
  if (ascending) return n;
  room.resize(static_cast<std::size_t>(n));
  for (index_t k = 0; k < n; ++k) room[static_cast<std::size_t>(k)] = {col[k], val[k]};
  const auto before = [](const column_value& x, const column_value& y) { return x.col < y.col; };
  if (n <= 32) { // insertion
    for (index_t k = 1; k < n; ++k) {
      const column_value one = room[static_cast<std::size_t>(k)];
      index_t to = k;
      for (; to > 0 && before(one, room[static_cast<std::size_t>(to) - 1]); --to)
        room[static_cast<std::size_t>(to)] = room[static_cast<std::size_t>(to) - 1];
      room[static_cast<std::size_t>(to)] = one;
    }
  } else {
    std::stable_sort(room.begin(), room.end(), before);
  }
  index_t kept = -1;
  for (const column_value& one : room) {
    if (kept >= 0 && col[kept] == one.col) {
      val[kept] += one.val;
    } else {
      ++kept;
      col[kept] = one.col;
      val[kept] = one.val;
    }
  }
  return kept + 1;
}

} // namespace

template <class O> std::vector<index_t> balanced_rows(cview<O> start, index_t parts) {
  const index_t rows = start.size - 1, total = static_cast<index_t>(start[rows]);
  std::vector<index_t> out{0};
  for (index_t p = 1; p < parts; ++p) {
    const auto wanted = static_cast<O>(cpu::part_begin(total, parts, p));
    const index_t row = std::lower_bound(start.begin(), start.end(), wanted) - start.begin();
    out.push_back(std::clamp(row, out.back(), rows));
  }
  out.push_back(rows);
  return out;
}

template <class O>
void finish_rows(coo<double>& a, cview<O> start, const std::vector<index_t>& bounds, bool ascending) {
  const auto parts = static_cast<index_t>(bounds.size()) - 1;
  struct shortened {
    index_t row, length;
  };
  std::vector<std::vector<shortened>> shorter(static_cast<std::size_t>(parts));
  const index_t given = a.val.size();
  a.row = {};
  cpu::for_each_task(ascending ? 0 : parts, [&](index_t p) {
    std::vector<column_value> room;
    for (index_t i = bounds[p]; i < bounds[p + 1]; ++i) {
      const auto first = static_cast<index_t>(start[i]), n = static_cast<index_t>(start[i + 1]) - first;
      const index_t kept = tidy_row(a.col.data() + first, a.val.data() + first, n, room);
      if (kept < n) shorter[p].push_back({i, kept});
    }
  });
  a.row = host_array<std::int32_t>(given);
  cpu::for_each_task(parts, [&](index_t p) {
    for (index_t i = bounds[p]; i < bounds[p + 1]; ++i)
      std::fill(a.row.data() + start[i], a.row.data() + start[i + 1], static_cast<std::int32_t>(i));
  });
  // Close the gaps that sums have left, from the first of them on.
  index_t end = given, read = given;
  const auto move_up = [&](index_t last) { // entries [read, last) to `end`
    const auto n = static_cast<std::size_t>(last - read);
    std::memmove(a.row.data() + end, a.row.data() + read, n * sizeof(std::int32_t));
    std::memmove(a.col.data() + end, a.col.data() + read, n * sizeof(std::int32_t));
    std::memmove(a.val.data() + end, a.val.data() + read, n * sizeof(double));
    end += last - read;
  };
  for (const auto& part : shorter)
    for (const shortened& s : part) {
      const index_t kept = static_cast<index_t>(start[s.row]) + s.length;
      if (read == given) end = kept;
      else move_up(kept);
      read = static_cast<index_t>(start[s.row + 1]);
      if (read == given) break; // nothing is left to move
    }
  if (read < given) move_up(given);
  a.row.resize(end), a.col.resize(end), a.val.resize(end);
}

template std::vector<index_t> balanced_rows(cview<std::uint32_t>, index_t);
template std::vector<index_t> balanced_rows(cview<index_t>, index_t);
template void finish_rows(coo<double>&, cview<std::uint32_t>, const std::vector<index_t>&, bool);
template void finish_rows(coo<double>&, cview<index_t>, const std::vector<index_t>&, bool);

} // namespace furrow::io
