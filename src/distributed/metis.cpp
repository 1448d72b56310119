// SPDX-License-Identifier: BSD-3-Clause
#include "metis.hpp"

#include "partition.hpp"

#include "core/check.hpp"
#include "core/late_library.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace furrow {
namespace {

constexpr const char* file = "libmetis.so.5";

/// METIS's functions with its numbers of 32 bits (metis.h of 5.1, IDXTYPEWIDTH and REALTYPEWIDTH 32, as Debian builds
/// it).
using cut_graph = int (*)(std::int32_t* vertices, std::int32_t* constraints, std::int32_t* begins,
                          std::int32_t* neighbours, std::int32_t* weights, std::int32_t* sizes,
                          std::int32_t* edge_weights, std::int32_t* parts, float* targets, float* imbalance,
                          std::int32_t* options, std::int32_t* cut, std::int32_t* part);
using set_defaults = int (*)(std::int32_t* options);
constexpr int ok = 1, no_memory = -3, option_count = 40, option_seed = 8;

struct metis_library {
  cut_graph recursive = nullptr, k_way = nullptr;
  set_defaults defaults = nullptr;
};

struct search {
  std::optional<metis_library> found;
  std::string why;
};

/// Defaults fill 40 numbers: how far they reach tells their width.
bool has_32_bits(set_defaults defaults) {
  std::array<std::int32_t, 2 * option_count> options{};
  return defaults(options.data()) == ok && options[option_count - 1] != 0 &&
         std::all_of(options.begin() + option_count, options.end(), [](std::int32_t o) { return o == 0; });
}

const search& searched() {
  static const search once = [] {
    search s;
    const late_library from = open_late({file}, {});
    if (s.why = from.why; !from.handle) return s;
    metis_library l;
    const bool whole = from.has("METIS_PartGraphRecursive", l.recursive) && from.has("METIS_PartGraphKway", l.k_way) &&
                       from.has("METIS_SetDefaultOptions", l.defaults);
    if (!whole) s.why = "cannot be used (it lacks functions)";
    else if (!has_32_bits(l.defaults)) s.why = "cannot be used (its integers have 64 bits)";
    else s.found = l;
    return s;
  }();
  return once;
}

const metis_library& metis() {
  check(searched().found.has_value(), fault::device,
        "the partition metis needs {}, which {}: install Debian's libmetis5, or take rows", file, searched().why);
  return *searched().found;
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

bool has_metis() { return searched().found.has_value(); }

template <class V> std::vector<int> metis_parts(const coo<V>& a, int parts) {
  require(a.shape.rows == a.shape.cols && a.shape.rows >= parts, "METIS cuts square matrices with a row for each part");
  const metis_library& by = metis();
  std::vector<std::int32_t> part(static_cast<std::size_t>(a.shape.rows), 0);
  if (parts > 1) {
    graph g = graph_of(a);
    std::array<std::int32_t, option_count> options{};
    by.defaults(options.data());
    options[option_seed] = 1;
    auto vertices = static_cast<std::int32_t>(a.shape.rows);
    std::int32_t constraints = 1, count = parts, cut = 0;
    constexpr int most_by_bisection = 8;
    const int outcome = (parts <= most_by_bisection ? by.recursive : by.k_way)(
        &vertices, &constraints, g.begins.data(), g.neighbours.data(), g.weights.data(), nullptr, nullptr, &count,
        nullptr, nullptr, options.data(), &cut, part.data());
    check(outcome != no_memory, fault::memory, "METIS has no memory to cut a matrix of {} rows", a.shape.rows);
    check(outcome == ok, fault::internal, "METIS ended with {} on a matrix of {} rows", outcome, a.shape.rows);
  }
  return {part.begin(), part.end()};
}

template std::vector<int> metis_parts(const coo<double>&, int);
template std::vector<int> metis_parts(const coo<float>&, int);

} // namespace furrow
