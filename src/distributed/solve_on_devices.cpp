// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/solve_on_devices.hpp>

#include "partition.hpp"
#include "scatter_rows.hpp"

#include "core/check.hpp"
#include "matrix/wrong_rows.hpp"

#include <furrow/device.hpp>

#include <utility>

namespace furrow {
namespace {

template <class V, class I> coo<V> rows_between(const csr_arrays<V, I>& a, index_t first, index_t last) {
  const index_t begin = a.row_ptr[first], nnz = a.row_ptr[last] - begin;
  host_array<I> row_ptr(last - first + 1);
  cpu::for_each_range(row_ptr.size(), 1 << 15, [&](index_t from, index_t to) {
    for (index_t r = from; r < to; ++r) row_ptr[r] = static_cast<I>(a.row_ptr[first + r] - begin);
  });
  const shape2 shape{last - first, a.shape.cols};
  try {
    return to_coo(csr_arrays<V, I>{shape, as_cview(row_ptr), part(a.col, begin, nnz), part(a.val, begin, nnz)});
  } catch (const error& e) {
    if (e.kind == fault::input) refuse_rows(a); // by the places that the caller knows
    throw;
  }
}

} // namespace

template <class V, class I>
ranks_report solve_on_devices(const std::vector<device>& on, const csr_arrays<V, I>& a, cview<V> b, view<V> x,
                              const solve_options& options) {
  check(!a.where.is_gpu(), fault::device, "the rows lie on {}: ranks take them in host memory", describe(a.where));
  check_lengths(a);
  check_offsets(a);
  check(a.shape.rows == a.shape.cols, fault::input, "the matrix is {} x {}: ranks of one process solve square systems",
        a.shape.rows, a.shape.cols);
  check_whole_system(a.shape, b, x);
  const std::vector<index_t> begins = cut_by_offsets(a.row_ptr, static_cast<int>(on.size()));
  ranks_report of_first;
  run_ranks(on, [&](communicator& c) {
    const auto me = static_cast<std::size_t>(c.rank());
    const index_t first = begins[me], count = begins[me + 1] - first;
    solver_on_ranks<V> solver(c, rows_between(a, first, first + count), options);
    ranks_report said = solver.solve(cview<V>(b.data + first, count), view<V>(x.data + first, count));
    if (c.rank() == 0) of_first = std::move(said);
  });
  of_first.partition = "rows";
  return of_first;
}

#define FURROW_SOLVE(V, I)                                                                                             \
  template ranks_report solve_on_devices(const std::vector<device>&, const csr_arrays<V, I>&, cview<V>, view<V>,       \
                                         const solve_options&);
FURROW_SOLVE(double, std::int32_t)
FURROW_SOLVE(double, std::int64_t)
FURROW_SOLVE(float, std::int32_t)
FURROW_SOLVE(float, std::int64_t)
#undef FURROW_SOLVE

} // namespace furrow
