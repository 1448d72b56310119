// SPDX-License-Identifier: BSD-3-Clause
#include "rectangular.hpp"

#include "first.hpp"
#include "gather_rows.hpp"
#include "options.hpp"
#include "rungs.hpp"
#include "scatter_rows.hpp"
#include "together.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "solvers/entry.hpp"

namespace furrow {

template <class V>
ranks_report solve_rectangular(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options) {
  const double began = now();
  const solve_options o = options_of_first(c, options, precision_of<V>);
  const std::vector<index_t> begins = begins_of_parts(c, rows.shape.rows), entries = begins_of_parts(c, rows.nnz());
  const std::vector<index_t> unknowns = begins_of_parts(c, x.size);
  const shape2 shape{begins.back(), rows.shape.cols};
  together(c, [&] {
    if (o.solver != "auto" && !find_solver(o.solver).needs.transposed) check_square(shape);
    check(name_on_block(o.precond) == o.precond, fault::usage,
          "{} is made of the block of each rank, and least squares are for one: leave 'local:' out", o.precond);
    check(b.size == rows.shape.rows, fault::usage, "b has {} elements on a rank of {} rows: give one for each", b.size,
          rows.shape.rows);
    check(unknowns.back() == shape.cols, fault::usage,
          "x has {} elements on all ranks together for a matrix of {} columns: give one for each", unknowns.back(),
          shape.cols);
    check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
  });
  const std::string too_large = too_large_for_first(c, shape, entries.back(), precision_of<V>, o);
  together(c, [&] { check(too_large.empty(), fault::memory, "{}", too_large); });
  rank_part part;
  part.first = begins[static_cast<std::size_t>(c.rank())];
  part.rows = rows.shape.rows, part.entries = rows.nnz(), part.where = o.where;
  ranks_report result;
  result.gathered = "least squares are for one rank";
  system_on_first<V> system(c, std::move(rows), o);
  part.setup_seconds = now() - began;
  result.report = system.solve(b, x, o);
  part.solve_seconds = now() - began - part.setup_seconds, part.waiting_seconds = system.waited();
  result.parts = gather_each(c, part);
  return result;
}

template ranks_report solve_rectangular(communicator&, coo<double>, cview<double>, view<double>, const solve_options&);
template ranks_report solve_rectangular(communicator&, coo<float>, cview<float>, view<float>, const solve_options&);

} // namespace furrow
