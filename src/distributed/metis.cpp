// SPDX-License-Identifier: BSD-3-Clause
#include "metis.hpp"

#include "partition.hpp"

#include "core/check.hpp"
#include "core/metis_library.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace furrow {
namespace {

const metis_library& metis() {
  const metis_search& search = find_metis();
  check(search.found != nullptr, fault::device,
        "the partition metis needs {}, which {}: install Debian's libmetis5, or take rows", metis_library::file,
        search.why);
  return *search.found;
}

/// Neighbours of each vertex, ascending, each once.
struct graph {
  std::vector<std::int32_t> begins, neighbours, weights;
};

template <class V> graph graph_of(const coo<V>& a) {
  const auto n = static_cast<std::size_t>(a.shape.rows);
  std::vector<index_t> begins(n + 1, 0);
  const auto for_edges = [&](auto f) {
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] != a.col[k]) f(static_cast<std::size_t>(a.row[k]), static_cast<std::size_t>(a.col[k]));
  };
  graph g;
  g.weights.assign(n, static_cast<std::int32_t>(entries_of_a_row));
  for (const std::int32_t i : a.row) ++g.weights[static_cast<std::size_t>(i)];
  for_edges([&](std::size_t i, std::size_t j) { ++begins[i + 1], ++begins[j + 1]; });
  for (std::size_t i = 0; i < n; ++i) begins[i + 1] += begins[i];
  check(
      begins[n] <= std::numeric_limits<std::int32_t>::max(), fault::usage,
      "the graph of the matrix has {} edges, more than METIS with integers of 32 bits counts: take the partition rows",
      begins[n]);
  g.neighbours.resize(static_cast<std::size_t>(begins[n]));
  std::vector<index_t> next(begins.begin(), begins.end() - 1);
  for_edges([&](std::size_t i, std::size_t j) {
    g.neighbours[static_cast<std::size_t>(next[i]++)] = static_cast<std::int32_t>(j);
    g.neighbours[static_cast<std::size_t>(next[j]++)] = static_cast<std::int32_t>(i);
  });
  g.begins.push_back(0);
  auto to = g.neighbours.begin();
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = g.neighbours.begin() + begins[i], last = g.neighbours.begin() + begins[i + 1];
    std::sort(first, last);
    to = std::copy(first, std::unique(first, last), to);
    g.begins.push_back(static_cast<std::int32_t>(to - g.neighbours.begin()));
  }
  return g;
}

} // namespace

bool has_metis() { return find_metis().found != nullptr; }

template <class V> std::vector<int> metis_parts(const coo<V>& a, int parts) {
  require(a.shape.rows == a.shape.cols && a.shape.rows >= parts, "METIS cuts square matrices with a row for each part");
  const metis_library& by = metis();
  std::vector<std::int32_t> part(static_cast<std::size_t>(a.shape.rows), 0);
  if (parts > 1) {
    graph g = graph_of(a);
    std::array<std::int32_t, metis_library::option_count> options{};
    by.defaults(options.data());
    options[metis_library::option_seed] = 1;
    auto vertices = static_cast<std::int32_t>(a.shape.rows);
    std::int32_t constraints = 1, count = parts, cut = 0;
    constexpr int most_by_bisection = 8;
    const metis_turn turn;
    const int outcome = (parts <= most_by_bisection ? by.recursive : by.k_way)(
        &vertices, &constraints, g.begins.data(), g.neighbours.data(), g.weights.data(), nullptr, nullptr, &count,
        nullptr, nullptr, options.data(), &cut, part.data());
    check(outcome != metis_library::no_memory, fault::memory, "METIS has no memory to cut a matrix of {} rows",
          a.shape.rows);
    check(outcome == metis_library::ok, fault::internal, "METIS ended with {} on a matrix of {} rows", outcome,
          a.shape.rows);
  }
  return {part.begin(), part.end()};
}

template std::vector<int> metis_parts(const coo<double>&, int);
template std::vector<int> metis_parts(const coo<float>&, int);

} // namespace furrow
