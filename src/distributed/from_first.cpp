// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/ranks.hpp>

#include "memory.hpp"
#include "partition.hpp"
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

/// Elements of a message at most: a communicator may keep copies.
constexpr index_t most_at_once = index_t(1) << 20;

/// f(first, last, r) for what is next, from `from` on, of the part of each rank; `begins` says where parts begin.
template <class F> void for_pieces(const std::vector<index_t>& begins, index_t from, F f) {
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
    const index_t first = begins[r] + from, last = std::min(first + most_at_once, begins[r + 1]);
    if (first < last) f(first, last, int(r));
  }
}
index_t longest(const std::vector<index_t>& begins) {
  index_t most = 0;
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) most = std::max(most, begins[r + 1] - begins[r]);
  return most;
}

/// Part r of `all`, from begins[r] on, to rank r.
template <class T> host_array<T> scatter(communicator& c, cview<T> all, const std::vector<index_t>& begins) {
  const index_t mine_from = begins[static_cast<std::size_t>(c.rank())];
  host_array<T> mine(begins[static_cast<std::size_t>(c.rank()) + 1] - mine_from);
  if (c.rank() == 0) std::copy_n(all.data, mine.size(), mine.data());
  for (index_t from = 0; from < longest(begins); from += most_at_once) {
    std::vector<outgoing> out;
    std::vector<incoming> in;
    for_pieces(begins, from, [&](index_t first, index_t last, int r) {
      if (r == 0) return;
      if (c.rank() == 0) out.push_back({r, bytes_of(cview<T>(all.data + first, last - first))});
      else if (c.rank() == r) in.push_back({0, bytes_of(view<T>(mine.data() + (first - mine_from), last - first))});
    });
    c.start(out, in);
    c.finish();
  }
  return mine;
}

/// The way back.
template <class T> void gather(communicator& c, cview<T> mine, view<T> all, const std::vector<index_t>& begins) {
  const index_t mine_from = begins[static_cast<std::size_t>(c.rank())];
  if (c.rank() == 0) std::ranges::copy(mine, all.begin());
  for (index_t from = 0; from < longest(begins); from += most_at_once) {
    std::vector<outgoing> out;
    std::vector<incoming> in;
    for_pieces(begins, from, [&](index_t first, index_t last, int r) {
      if (r == 0) return;
      if (c.rank() == 0) in.push_back({r, bytes_of(view<T>(all.data + first, last - first))});
      else if (c.rank() == r) out.push_back({0, bytes_of(cview<T>(mine.data + (first - mine_from), last - first))});
    });
    c.start(out, in);
    c.finish();
  }
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

template <class V>
ranks_report solve_from_first(communicator& c, coo<V> a, cview<V> b, view<V> x, const solve_options& options) {
  return as_one(c, [&] { return solve_parts(c, std::move(a), b, x, options); });
}

template ranks_report solve_from_first(communicator&, coo<double>, cview<double>, view<double>, const solve_options&);
template ranks_report solve_from_first(communicator&, coo<float>, cview<float>, view<float>, const solve_options&);

} // namespace furrow
