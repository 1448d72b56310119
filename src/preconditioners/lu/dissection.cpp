// SPDX-License-Identifier: BSD-3-Clause
#include "ordering.hpp"

#include "core/check.hpp"
#include "core/metis_library.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace furrow::lu {
namespace {

/// Pieces of so many blocks take METIS 0.1 s, during which nobody is heard; separators of larger ones as long.
constexpr index_t most_at_once = 20000;
/// A separator that leaves more than this part on one side does not get far: METIS orders such a piece at once.
constexpr double most_on_a_side = 0.9;

/// A part of the graph, and which blocks its vertices are.
struct piece {
  std::vector<std::int32_t> begins, neighbours, weights, blocks;
  std::int32_t size() const { return static_cast<std::int32_t>(weights.size()); }
};

class dissection {
public:
  explicit dissection(const metis_library& by) : by_(by) {
    by_.defaults(options_.data());
    options_[metis_library::option_seed] = 1;
  }

  host_array<std::int32_t> of(piece whole) {
    place_ = host_array<std::int32_t>(whole.size());
    order(std::move(whole), 0);
    return std::move(place_);
  }

private:
  /// Gives the blocks of a piece the places from `first` on.
  void order(piece p, std::int32_t first) { // NOLINT(misc-no-recursion): each part is a tenth smaller at least
    stops_set_up::at_row(0);
    if (p.size() <= most_at_once) return order_at_once(p, first);
    std::vector<std::int32_t> side(p.weights.size());
    std::int32_t n = p.size(), size = 0;
    {
      const metis_turn turn;
      must_be_ok(by_.separate(&n, p.begins.data(), p.neighbours.data(), p.weights.data(), options_.data(), &size,
                              side.data()));
    }
    std::array<std::int32_t, 3> counts{};
    for (const std::int32_t s : side) ++counts[at(s)];
    if (std::max(counts[0], counts[1]) > most_on_a_side * double(n)) return order_at_once(p, first);
    auto parts = divide(p, side);
    const std::int32_t second = first + counts[0];
    std::int32_t last = second + counts[1];
    for (std::int32_t v = 0; v < n; ++v)
      if (side[at(v)] == 2) place_[p.blocks[at(v)]] = last++;
    p = {};
    order(std::move(parts[0]), first);
    order(std::move(parts[1]), second);
  }

  void order_at_once(piece& p, std::int32_t first) {
    if (p.size() == 0) return;
    std::vector<std::int32_t> old_of(p.weights.size()), to(p.weights.size());
    std::int32_t n = p.size();
    const metis_turn turn;
    must_be_ok(by_.order(&n, p.begins.data(), p.neighbours.data(), p.weights.data(), options_.data(), old_of.data(),
                         to.data()));
    for (std::int32_t v = 0; v < n; ++v) place_[p.blocks[at(v)]] = first + to[at(v)];
  }

  static std::array<piece, 2> divide(const piece& p, const std::vector<std::int32_t>& side) {
    std::array<piece, 2> parts;
    std::vector<std::int32_t> inside(side.size());
    for (piece& part : parts) part.begins.push_back(0);
    for (std::size_t v = 0; v < side.size(); ++v)
      if (side[v] < 2) {
        piece& mine = parts[at(side[v])];
        inside[v] = mine.size();
        mine.weights.push_back(p.weights[v]);
        mine.blocks.push_back(p.blocks[v]);
      }
    for (std::size_t v = 0; v < side.size(); ++v) {
      if (side[v] == 2) continue;
      piece& mine = parts[at(side[v])];
      for (std::int32_t k = p.begins[v]; k < p.begins[v + 1]; ++k)
        if (const std::int32_t w = p.neighbours[at(k)]; side[at(w)] == side[v])
          mine.neighbours.push_back(inside[at(w)]);
      mine.begins.push_back(static_cast<std::int32_t>(mine.neighbours.size()));
    }
    return parts;
  }

  static void must_be_ok(int outcome) {
    check(outcome != metis_library::no_memory, fault::memory, "METIS has no memory for an order of the columns");
    check(outcome == metis_library::ok, fault::internal, "METIS ended with {} while it ordered columns", outcome);
  }

  const metis_library& by_;
  std::array<std::int32_t, metis_library::option_count> options_{};
  host_array<std::int32_t> place_;
};

} // namespace

bool has_dissection() { return find_metis().found != nullptr; }

double seconds_of_dissection(const column_graph& g) {
  return std::log2(double(g.blocks()) + 1) * (0.25e-6 * double(g.blocks()) + 0.012e-6 * double(g.neighbours.size()));
}

host_array<std::int32_t> nested_dissection(const column_graph& g, host_room budget) {
  const metis_search& search = find_metis();
  check(search.found != nullptr, fault::device,
        "an order by nested dissection needs {}, which {}: install Debian's libmetis5, or take order=degree",
        metis_library::file, search.why);
  const double bytes = 60 * double(g.neighbours.size()) + 200 * double(g.blocks());
  if (!budget.takes(bytes))
    throw_sentence(fault::memory,
                   "an order by nested dissection takes about {:.3g} GB, of which {:.3g} GB can be had: take "
                   "order=degree, or an iterative solver",
                   bytes * 1e-9, budget.bytes() * 1e-9);
  piece whole{g.begins, g.neighbours, g.weights, std::vector<std::int32_t>(g.weights.size())};
  std::iota(whole.blocks.begin(), whole.blocks.end(), 0);
  return g.places(dissection(*search.found).of(std::move(whole)));
}

} // namespace furrow::lu
