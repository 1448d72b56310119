// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/ranks.hpp>

#include "memory.hpp"
#include "partition.hpp"
#include "parts.hpp"
#include "together.hpp"

#include "core/check.hpp"
#include "core/row_offsets.hpp"

#include <algorithm>

namespace furrow {
namespace {

/// Where the rows and the entries of each rank begin in what rank 0 has; `ranks` + 1 numbers each.
struct cuts {
  std::vector<index_t> rows, entries;
};

/// Those of rank 0, on all.
void share(communicator& c, std::vector<index_t>& numbers) {
  numbers.resize(static_cast<std::size_t>(c.size()) + 1);
  std::vector<outgoing> out;
  std::vector<incoming> in;
  if (c.rank() == 0)
    for (int r = 1; r < c.size(); ++r) out.push_back({r, bytes_of(cview<index_t>(numbers))});
  else in.push_back({0, bytes_of(view<index_t>(numbers))});
  c.start(out, in);
  c.finish();
}

template <class V> cuts cut(const coo<V>& a, cview<V> b, view<V> x, int ranks) {
  check_triplets(a);
  check(a.shape.rows == a.shape.cols, fault::input, "the matrix is {} x {}: ranks solve square systems", a.shape.rows,
        a.shape.cols);
  check(b.size == a.shape.rows && x.size == a.shape.rows, fault::usage,
        "b has {} elements and x {} for a matrix of {} rows: give one for each", b.size, x.size, a.shape.rows);
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
  cuts result{cut_by_entries(as_cview(a.row), a.shape.rows, ranks), {}};
  const auto row_ptr = offsets_of_rows<index_t>(a.row, a.shape.rows);
  for (const index_t r : result.rows) result.entries.push_back(row_ptr[r]);
  return result;
}

template <class V>
ranks_report solve_parts(communicator& c, coo<V> a, cview<V> b, view<V> x, const solve_options& options) {
  cuts at;
  together(c, [&] {
    if (c.rank() == 0) at = cut(a, b, x, c.size());
  });
  share(c, at.rows);
  share(c, at.entries);
  const auto me = static_cast<std::size_t>(c.rank());
  check_memory_of_machine(c, double(8 + sizeof(V)) * double(at.entries[me + 1] - at.entries[me]) +
                                 2 * double(sizeof(V)) * double(at.rows[me + 1] - at.rows[me]));
  coo<V> mine;
  mine.row = scatter(c, as_cview(a.row), at.entries);
  mine.col = scatter(c, as_cview(a.col), at.entries);
  mine.val = scatter(c, as_cview(a.val), at.entries);
  mine.shape = {at.rows[me + 1] - at.rows[me], at.rows.back()};
  for (std::int32_t& row : mine.row) row -= static_cast<std::int32_t>(at.rows[me]);
  a = {};
  const host_array<V> my_b = scatter(c, b, at.rows);
  host_array<V> my_x = scatter(c, as_cview(x), at.rows);
  ranks_report result = solver_on_ranks<V>(c, std::move(mine), options).solve(as_cview(my_b), as_view(my_x));
  gather(c, as_cview(my_x), x, at.rows);
  return result;
}

} // namespace

template <class V> void scatter_from_first(communicator& c, cview<V> whole, view<V> mine) {
  std::vector<index_t> begins{0};
  for (const index_t size : gather_each(c, mine.size)) begins.push_back(begins.back() + size);
  together(c, [&] {
    check(c.rank() != 0 || whole.size == begins.back(), fault::usage,
          "the vector has {} elements for {} on all ranks together: give one for each", whole.size, begins.back());
  });
  scatter(c, whole, mine, begins);
}

template void scatter_from_first(communicator&, cview<double>, view<double>);
template void scatter_from_first(communicator&, cview<float>, view<float>);

template <class V>
ranks_report solve_from_first(communicator& c, coo<V> a, cview<V> b, view<V> x, const solve_options& options) {
  return as_one(c, [&] { return solve_parts(c, std::move(a), b, x, options); });
}

template ranks_report solve_from_first(communicator&, coo<double>, cview<double>, view<double>, const solve_options&);
template ranks_report solve_from_first(communicator&, coo<float>, cview<float>, view<float>, const solve_options&);

} // namespace furrow
