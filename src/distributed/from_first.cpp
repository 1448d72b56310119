// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/ranks.hpp>

#include "metis.hpp"
#include "rectangular.hpp"
#include "renumber.hpp"
#include "scatter_rows.hpp"
#include "together.hpp"

#include "core/check.hpp"
#include "core/memory_place.hpp"
#include "core/symmetry.hpp"
#include "solvers/entry.hpp"

#include <furrow/device.hpp>

#include <algorithm>

namespace furrow {
namespace {

template <class V> void check_system(const coo<V>& a, cview<V> b, view<V> x) {
  check_triplets(a);
  check_whole_system(a.shape, b, x);
}

/// `begins`: of rank 0, where the rows of each rank begin; empty: they are cut by entries.
template <class V>
ranks_report solve_parts(communicator& c, coo<V> a, cview<V> b, view<V> x, const solve_options& options,
                         std::vector<index_t> begins = {}) {
  together(c, [&] {
    if (c.rank() == 0 && begins.empty()) begins = cut_by_entries(as_cview(a.row), a.shape.rows, c.size());
  });
  const bool square = c.of_first(a.shape.rows == a.shape.cols) != 0;
  coo<V> mine = scatter_rows(c, std::move(a), begins);
  if (!square) { // x stays where it is
    const host_array<V> my_b = scatter(c, b, begins);
    return solve_rectangular(c, std::move(mine), as_cview(my_b), c.rank() == 0 ? x : view<V>{}, options);
  }
  return solve_rows(c, std::move(mine), b, x, options, begins);
}

/// Whether the one who is asked about symmetry names entries: those of the caller's numbers, then.
bool asks_for_symmetry(const solve_options& o) {
  return o.solver != "auto" && !o.assume_symmetric && find_solver(o.solver).needs.a.symmetric;
}

/// Rows in the order of METIS's parts; back in the caller's wherever the caller looks.
template <class V>
ranks_report solve_renumbered(communicator& c, coo<V> a, cview<V> b, view<V> x, const solve_options& options) {
  renumbering to;
  host_array<V> moved_b, moved_x;
  solve_options o = options;
  together(c, [&] {
    if (c.rank() != 0) return;
    if (asks_for_symmetry(o)) check_symmetry(a);
    const double wanted = (40 + sizeof(V)) * double(a.nnz()), free = double(available_host_memory());
    check(
        wanted <= free, fault::memory,
        "cutting the rows by METIS needs {:.3g} GB more memory, of which {:.3g} GB can be had: take the partition rows",
        wanted * 1e-9, free * 1e-9);
    to = renumber(metis_parts(a, c.size()), c.size());
    a = renumbered(a, to);
    moved_b = renumbered(b, to), moved_x = renumbered(as_cview(x), to);
    if (o.monitor) o.monitor = monitor_of_moved(o.monitor, to);
  });
  ranks_report result = solve_parts(c, std::move(a), as_cview(moved_b), as_view(moved_x), o, to.begins);
  if (c.rank() == 0) put_back(as_cview(moved_x), to, x);
  say_that_rows_moved(result.report.message);
  return result;
}

} // namespace

template <class V> void check_part_of_system(index_t rows, cview<V> b, view<V> x) {
  check(b.size == rows && x.size == rows, fault::usage,
        "b has {} elements and x {} on a rank of {} rows: give one for each", b.size, x.size, rows);
  check((b.data && x.data) || b.empty(), fault::usage, "x or b points nowhere, but has {} elements", b.size);
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
}

void check_square(shape2 shape) {
  check(
      shape.rows == shape.cols, fault::input,
      "the matrix is {} x {}: ranks solve square systems, and others by auto, lsmr or lsqr, which the first rank does",
      shape.rows, shape.cols);
}

template <class V> void check_whole_system(shape2 shape, cview<V> b, view<V> x) {
  if (shape.rows != shape.cols)
    check(b.size == shape.rows && x.size == shape.cols, fault::usage,
          "b has {} elements and x {}, but the matrix is {} x {}: give b one a row and x one a column", b.size, x.size,
          shape.rows, shape.cols);
  else
    check(b.size == shape.rows && x.size == shape.rows, fault::usage,
          "b has {} elements and x {} for a matrix of {} rows: give one for each", b.size, x.size, shape.rows);
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
  check(place_of(b.data).host && place_of(x.data).host, fault::usage,
        "x or b lies on a GPU: ranks and several devices take the whole of them in host memory");
}

template void check_part_of_system(index_t, cview<double>, view<double>);
template void check_part_of_system(index_t, cview<float>, view<float>);
template void check_whole_system(shape2, cview<double>, view<double>);
template void check_whole_system(shape2, cview<float>, view<float>);

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
ranks_report solve_from_first(communicator& c, coo<V> a, cview<V> b, view<V> x, const solve_options& options,
                              partition how) {
  return as_one(c, [&] {
    bool renumbers = false;
    together(c, [&] { // or hear what failed
      if (c.rank() == 0) check_system(a, b, x);
      renumbers = how == partition::metis && a.shape.rows >= 4 * c.size() && a.shape.rows == a.shape.cols &&
                  may_move(a, b, as_cview(x));
    });
    renumbers = c.of_first(renumbers) != 0;
    ranks_report result =
        renumbers ? solve_renumbered(c, std::move(a), b, x, options) : solve_parts(c, std::move(a), b, x, options);
    result.partition = renumbers ? "metis" : "rows";
    return result;
  });
}

template ranks_report solve_from_first(communicator&, coo<double>, cview<double>, view<double>, const solve_options&,
                                       partition);
template ranks_report solve_from_first(communicator&, coo<float>, cview<float>, view<float>, const solve_options&,
                                       partition);

} // namespace furrow
