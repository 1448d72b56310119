// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "memory.hpp"
#include "partition.hpp"
#include "parts.hpp"

#include "core/row_offsets.hpp"

#include <furrow/coo.hpp>
#include <furrow/ranks.hpp>

namespace furrow {

/// Numbers of rank 0, one more than there are ranks, on all.
inline void share(communicator& c, std::vector<index_t>& numbers) {
  numbers.resize(static_cast<std::size_t>(c.size()) + 1);
  std::vector<outgoing> out;
  std::vector<incoming> in;
  if (c.rank() == 0)
    for (int r = 1; r < c.size(); ++r) out.push_back({r, bytes_of(cview<index_t>(numbers))});
  else in.push_back({0, bytes_of(view<index_t>(numbers))});
  c.start(out, in);
  c.finish();
}

/// The rows of each rank, numbered from 0 on, of a matrix that rank 0 has whole; `begins` is rank 0's, and on all
/// afterwards.
template <class V> coo<V> scatter_rows(communicator& c, coo<V> a, std::vector<index_t>& begins) {
  std::vector<index_t> entries;
  if (c.rank() == 0) {
    const auto row_ptr = offsets_of_rows<index_t>(a.row, a.shape.rows);
    for (const index_t r : begins) entries.push_back(row_ptr[r]);
  }
  share(c, begins);
  share(c, entries);
  const index_t columns = static_cast<index_t>(c.of_first(double(a.shape.cols)));
  const auto me = static_cast<std::size_t>(c.rank());
  check_memory_of_machine(c, double(8 + sizeof(V)) * double(entries[me + 1] - entries[me]) +
                                 2 * double(sizeof(V)) * double(begins[me + 1] - begins[me]));
  coo<V> mine;
  mine.row = scatter(c, as_cview(a.row), entries);
  mine.col = scatter(c, as_cview(a.col), entries);
  mine.val = scatter(c, as_cview(a.val), entries);
  mine.shape = {begins[me + 1] - begins[me], columns};
  for (std::int32_t& row : mine.row) row -= static_cast<std::int32_t>(begins[me]);
  return mine;
}

/// What rank 0 announces, and these bytes of its own.
inline solve_options announcing_more(const solve_options& options, double bytes) {
  solve_options o = options;
  if (o.announce)
    o.announce = [told = o.announce, bytes](memory_estimate e) {
      e.host += bytes;
      told(e);
    };
  return o;
}

/// Solves for rows of A that each rank has and a b and x that rank 0 has whole, cut as `begins` says.
template <class V>
ranks_report solve_rows(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options,
                        const std::vector<index_t>& begins) {
  const host_array<V> my_b = scatter(c, b, begins);
  host_array<V> my_x = scatter(c, as_cview(x), begins);
  const solve_options with_whole = announcing_more(options, 2 * double(sizeof(V)) * double(begins.back()));
  ranks_report result = solver_on_ranks<V>(c, std::move(rows), with_whole).solve(as_cview(my_b), as_view(my_x));
  gather(c, as_cview(my_x), x, begins);
  return result;
}

/// Throws `fault::usage` for b and x that are not those of a rank with so many rows.
template <class V> void check_part_of_system(index_t rows, cview<V> b, view<V> x);
/// Throws `fault::input` for a system that is not square.
void check_square(shape2 shape);
/// The same, and `fault::usage` for b and x that do not fit it.
template <class V> void check_whole_system(shape2 shape, cview<V> b, view<V> x);

} // namespace furrow
