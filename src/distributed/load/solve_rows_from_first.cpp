// SPDX-License-Identifier: BSD-3-Clause
#include "deal.hpp"

#include "core/check.hpp"
#include "distributed/gather_rows.hpp"
#include "distributed/metis.hpp"
#include "distributed/rectangular.hpp"
#include "distributed/renumber.hpp"
#include "distributed/rows_of_rank.hpp"
#include "distributed/scatter_rows.hpp"
#include "distributed/together.hpp"
#include "solve/checkpoint_monitor.hpp"
#include "solvers/entry.hpp"

#include <furrow/assemble.hpp>
#include <furrow/device.hpp>
#include <furrow/load_on_ranks.hpp>

namespace furrow {
namespace {

/// What rank 0 has, on all, piece by piece.
void share_all(communicator& c, host_array<std::int32_t>& numbers) {
  numbers.resize(static_cast<index_t>(c.of_first(double(numbers.size()))));
  for (index_t from = 0; from < numbers.size(); from += most_at_once) {
    const index_t n = std::min(most_at_once, numbers.size() - from);
    std::vector<outgoing> out;
    std::vector<incoming> in;
    if (c.rank() == 0)
      for (int r = 1; r < c.size(); ++r) out.push_back({r, bytes_of(cview<std::int32_t>(numbers.data() + from, n))});
    else in.push_back({0, bytes_of(view<std::int32_t>(numbers.data() + from, n))});
    c.start(out, in);
    c.finish();
  }
}

/// Of the whole matrix on rank 0: rows and columns; its values are room that nobody touches.
template <class V> coo<V> graph_on_first(communicator& c, const coo<V>& rows, const std::vector<index_t>& begins) {
  std::vector<index_t> entries{0};
  for (const index_t n : gather_each(c, rows.nnz())) entries.push_back(entries.back() + n);
  const bool first = c.rank() == 0;
  coo<V> graph;
  host_array<std::int32_t> of_whole;
  together(c, [&] {
    const auto free = double(available_host_memory()), wanted = first ? 40.0 * double(entries.back()) : 0;
    check(
        wanted <= free, fault::memory,
        "cutting the rows by METIS needs {:.3g} GB more memory, of which {:.3g} GB can be had: take the partition rows",
        wanted * 1e-9, free * 1e-9);
    const index_t n = first ? entries.back() : 0, before = begins[static_cast<std::size_t>(c.rank())];
    graph = {
        {begins.back(), begins.back()}, host_array<std::int32_t>(n), host_array<std::int32_t>(n), host_array<V>(n)};
    of_whole = host_array<std::int32_t>(rows.nnz());
    for (index_t k = 0; k < rows.nnz(); ++k) of_whole[k] = rows.row[k] + static_cast<std::int32_t>(before);
  });
  gather(c, as_cview(of_whole), as_view(graph.row), entries);
  gather(c, as_cview(rows.col), as_view(graph.col), entries);
  return graph;
}

/// Throws where a solver that is asked for needs symmetry, which the matrix lacks: by the caller's numbers.
template <class V> void check_symmetry_by_name(communicator& c, const coo<V>& rows, const solve_options& o) {
  bool asks = false;
  together(c, [&] {
    asks = c.rank() == 0 && o.solver != "auto" && !o.assume_symmetric && find_solver(o.solver).needs.a.symmetric;
  });
  if (c.of_first(asks) == 0) return;
  coo<V> copy;
  together(c, [&] { copy = rows; });
  const std::string what = asymmetry(c, take_apart_rows(c, std::move(copy)));
  together(c, [&] { check(what.empty(), fault::input, "{}", what); });
}

/// Where each row goes, on all ranks.
host_array<std::int32_t> new_numbers(communicator& c, const renumbering& to) {
  host_array<std::int32_t> new_of;
  together(c, [&] {
    if (c.rank() != 0) return;
    new_of = host_array<std::int32_t>(to.old_of.size());
    for (index_t k = 0; k < new_of.size(); ++k) new_of[to.old_of[k]] = static_cast<std::int32_t>(k);
  });
  share_all(c, new_of);
  return new_of;
}

/// Which rows this rank has then, in their order.
host_array<std::int32_t> old_numbers(communicator& c, const host_array<std::int32_t>& new_of,
                                     const std::vector<index_t>& begins) {
  const auto me = static_cast<std::size_t>(c.rank());
  host_array<std::int32_t> old_of(begins[me + 1] - begins[me]);
  for (index_t i = 0; i < new_of.size(); ++i)
    if (new_of[i] >= begins[me] && new_of[i] < begins[me + 1])
      old_of[new_of[i] - begins[me]] = static_cast<std::int32_t>(i);
  return old_of;
}

/// Rows of P A P' of this rank, `to` of all ranks.
template <class V>
coo<V> move_rows(communicator& c, coo<V> rows, index_t first, const host_array<std::int32_t>& new_of,
                 const std::vector<index_t>& to) {
  const chunks_of_rows<V> chunks{rows};
  const auto visit = [&](index_t k, auto put) {
    chunks.visit(k, [&](std::int32_t i, std::int32_t j, V v) { put(new_of[first + i], new_of[j], v); });
  };
  const auto keep = [](index_t) {};
  dealing<V, decltype(visit), decltype(keep)> way(c, to, chunks.count(), visit, keep);
  const coo<V> came = way.deal(rows.shape.cols);
  rows = {};
  coo<V> sorted;
  together(c, [&] { sorted = assemble(came.shape, as_cview(came.row), as_cview(came.col), as_cview(came.val)); });
  return sorted;
}

/// there[place[k]] <- mine[k], over all ranks, of which rank r gets [to[r], to[r + 1]).
template <class V>
void move_elements(communicator& c, cview<V> mine, const std::int32_t* place, view<V> there,
                   const std::vector<index_t>& to) {
  constexpr index_t size = chunks_of_rows<V>::size;
  const auto visit = [&](index_t k, auto put) {
    for (index_t e = k * size, end = std::min(mine.size, e + size); e < end; ++e) put(place[e], 0, mine[e]);
  };
  const auto keep = [](index_t) {};
  dealing<V, decltype(visit), decltype(keep)> way(c, to, (mine.size + size - 1) / size, visit, keep);
  const coo<V> came = way.deal(1);
  for (index_t k = 0; k < came.nnz(); ++k) there[came.row[k]] = came.val[k];
}

/// With a monitor that is shown x in the caller's order: `part_in_order` of each rank's part, which all ranks call
/// together, where it looks at parts. Lets go of the order of all rows where nobody looks at all of x.
template <class F>
solve_options with_monitor_in_order(communicator& c, solve_options o, renumbering& to, F part_in_order) {
  const auto* const given = o.monitor.target<checkpoint_monitor>();
  const bool monitored = c.rank() == 0 && o.monitor, in_parts = c.of_first(given != nullptr) != 0;
  if (in_parts) {
    checkpoint_monitor kept;
    if (c.rank() == 0) kept = *given;
    kept.part_in_order = std::move(part_in_order);
    if (c.rank() == 0) // where the first rank goes on alone
      kept.whole_in_order = [&to](cview<double> moved) {
        host_array<double> own(moved.size);
        put_back(moved, to, as_view(own));
        return own;
      };
    o.monitor = std::move(kept);
  } else if (monitored) {
    o.monitor = monitor_of_moved(o.monitor, to);
  }
  if (!monitored) to.old_of = {};
  return o;
}

/// Rows in the order of METIS's parts; back in the caller's wherever the caller looks.
template <class V>
ranks_report solve_by_metis(communicator& c, coo<V> rows, const std::vector<index_t>& begins, cview<V> b, view<V> x,
                            const solve_options& options) {
  check_symmetry_by_name(c, rows, options);
  renumbering to;
  {
    coo<V> graph = graph_on_first(c, rows, begins);
    together(c, [&] {
      if (c.rank() == 0) to = renumber(metis_parts(graph, c.size()), c.size());
    });
  }
  share(c, to.begins);
  const auto me = static_cast<std::size_t>(c.rank());
  const index_t first = begins[me], size = to.begins[me + 1] - to.begins[me];
  host_array<V> moved_b, moved_x;
  host_array<std::int32_t> old_of;
  {
    const host_array<std::int32_t> new_of = new_numbers(c, to);
    rows = move_rows(c, std::move(rows), first, new_of, to.begins);
    together(c, [&] {
      moved_b = host_array<V>(size), moved_x = host_array<V>(size);
      old_of = old_numbers(c, new_of, to.begins);
    });
    move_elements(c, b, new_of.data() + first, as_view(moved_b), to.begins);
    move_elements(c, as_cview(x), new_of.data() + first, as_view(moved_x), to.begins);
  }
  const solve_options o = with_monitor_in_order(c, options, to, [&](cview<double> moved) {
    host_array<double> own(begins[me + 1] - first);
    move_elements(c, moved, old_of.data(), as_view(own), begins);
    return own;
  });
  ranks_report result = solver_on_ranks<V>(c, std::move(rows), o).solve(as_cview(moved_b), as_view(moved_x));
  move_elements(c, as_cview(moved_x), old_of.data(), x, begins);
  say_that_rows_moved(result.report.message);
  return result;
}

} // namespace

template <class V>
ranks_report solve_rows_in_parts(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options,
                                 partition how) {
  return as_one(c, [&] {
    together(c, [] {}); // or hear what failed
    const std::vector<index_t> begins = begins_of_parts(c, rows.shape.rows);
    if (c.any(begins.back() != rows.shape.cols)) {
      together(c, [&] { check_triplets(rows); });
      ranks_report result = solve_rectangular(c, std::move(rows), b, x, options);
      result.partition = "rows";
      return result;
    }
    together(c, [&] { check_part_of_system(rows.shape.rows, b, x); });
    const bool by_metis = c.of_first(how == partition::metis) != 0 && begins.back() >= 4 * c.size() &&
                          !c.any(!may_move(rows, b, as_cview(x)));
    ranks_report result = by_metis ? solve_by_metis(c, std::move(rows), begins, b, x, options)
                                   : solver_on_ranks<V>(c, std::move(rows), options).solve(b, x);
    result.partition = by_metis ? "metis" : "rows";
    return result;
  });
}

template <class V>
ranks_report solve_rows_from_first(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options,
                                   partition how) {
  return as_one(c, [&] {
    together(c, [] {}); // or hear what failed
    const std::vector<index_t> begins = begins_of_parts(c, rows.shape.rows);
    together(c, [&] {
      if (c.rank() == 0) check_whole_system({begins.back(), rows.shape.cols}, b, x);
    });
    const host_array<V> my_b = scatter(c, b, begins);
    if (c.any(begins.back() != rows.shape.cols)) // x stays where it is
      return solve_rows_in_parts(c, std::move(rows), as_cview(my_b), c.rank() == 0 ? x : view<V>{}, options, how);
    host_array<V> my_x = scatter(c, as_cview(x), begins);
    const solve_options with_whole = announcing_more(options, 2 * double(sizeof(V)) * double(begins.back()));
    ranks_report result = solve_rows_in_parts(c, std::move(rows), as_cview(my_b), as_view(my_x), with_whole, how);
    gather(c, as_cview(my_x), x, begins);
    return result;
  });
}

template ranks_report solve_rows_in_parts(communicator&, coo<double>, cview<double>, view<double>, const solve_options&,
                                          partition);
template ranks_report solve_rows_in_parts(communicator&, coo<float>, cview<float>, view<float>, const solve_options&,
                                          partition);
template ranks_report solve_rows_from_first(communicator&, coo<double>, cview<double>, view<double>,
                                            const solve_options&, partition);
template ranks_report solve_rows_from_first(communicator&, coo<float>, cview<float>, view<float>, const solve_options&,
                                            partition);

} // namespace furrow
