// SPDX-License-Identifier: BSD-3-Clause
#include "deal.hpp"

#include "core/check.hpp"
#include "distributed/metis.hpp"
#include "distributed/renumber.hpp"
#include "distributed/rows_of_rank.hpp"
#include "distributed/scatter_rows.hpp"
#include "distributed/together.hpp"
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

/// Rows of P A P' of this rank, `to.begins` of all ranks.
template <class V> coo<V> move_rows(communicator& c, coo<V> rows, const std::vector<index_t>& begins, renumbering& to) {
  host_array<std::int32_t> new_of;
  together(c, [&] {
    if (c.rank() != 0) return;
    new_of = host_array<std::int32_t>(to.old_of.size());
    for (index_t k = 0; k < new_of.size(); ++k) new_of[to.old_of[k]] = static_cast<std::int32_t>(k);
  });
  share_all(c, new_of);
  share(c, to.begins);
  const chunks_of_rows<V> chunks{rows};
  const index_t first = begins[static_cast<std::size_t>(c.rank())];
  const auto visit = [&](index_t k, auto put) {
    chunks.visit(k, [&](std::int32_t i, std::int32_t j, V v) { put(new_of[first + i], new_of[j], v); });
  };
  const auto keep = [](index_t) {};
  dealing<V, decltype(visit), decltype(keep)> way(c, to.begins, chunks.count(), visit, keep);
  const coo<V> came = way.deal(rows.shape.cols);
  rows = {};
  coo<V> sorted;
  together(c, [&] { sorted = assemble(came.shape, as_cview(came.row), as_cview(came.col), as_cview(came.val)); });
  return sorted;
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
  rows = move_rows(c, std::move(rows), begins, to);
  host_array<V> moved_b, moved_x;
  solve_options o = options;
  together(c, [&] {
    if (c.rank() != 0) return;
    moved_b = renumbered(b, to), moved_x = renumbered(as_cview(x), to);
    if (o.monitor) o.monitor = monitor_of_moved(o.monitor, to);
  });
  ranks_report result = solve_rows(c, std::move(rows), as_cview(moved_b), as_view(moved_x), o, to.begins);
  if (c.rank() == 0) put_back(as_cview(moved_x), to, x);
  return result;
}

} // namespace

template <class V>
ranks_report solve_rows_from_first(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options,
                                   partition how) {
  return as_one(c, [&] {
    together(c, [&] { check_triplets(rows); }); // or hear what failed
    std::vector<index_t> begins{0};
    for (const index_t n : gather_each(c, rows.shape.rows)) begins.push_back(begins.back() + n);
    together(c, [&] {
      if (c.rank() == 0) check_whole_system({begins.back(), rows.shape.cols}, b, x);
    });
    const bool by_metis = c.of_first(how == partition::metis) != 0 && begins.back() >= 4 * c.size();
    ranks_report result = by_metis ? solve_by_metis(c, std::move(rows), begins, b, x, options)
                                   : solve_rows(c, std::move(rows), b, x, options, begins);
    result.partition = by_metis ? "metis" : "rows";
    return result;
  });
}

template ranks_report solve_rows_from_first(communicator&, coo<double>, cview<double>, view<double>,
                                            const solve_options&, partition);
template ranks_report solve_rows_from_first(communicator&, coo<float>, cview<float>, view<float>, const solve_options&,
                                            partition);

} // namespace furrow
