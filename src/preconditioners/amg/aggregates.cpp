// SPDX-License-Identifier: BSD-3-Clause
#include "aggregates.hpp"

#include "independent_set.hpp"

#include <bit>
#include <vector>

namespace furrow::amg {
namespace {

constexpr index_t aggregated_at_once = 1 << 12;

/// Numbers of nodes, ascending.
class list {
public:
  explicit list(index_t n) : items_(n), count_(n) {
    cpu::for_each_range(n, aggregated_at_once, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) items_[i] = static_cast<std::int32_t>(i);
    });
  }
  bool empty() const { return count_ == 0; }

  template <class F> void for_each(F f) const {
    cpu::for_each_range(count_, aggregated_at_once, [&](index_t first, index_t last) {
      for (index_t k = first; k < last; ++k) f(items_[k]);
    });
  }
  /// Those that pass stay. Each thread closes the gaps of its part, then the parts move together.
  template <class Keep> void filter(Keep keep) {
    const index_t parts = std::clamp<index_t>(count_ / aggregated_at_once, 1, cpu::thread_count());
    std::vector<index_t> kept(static_cast<std::size_t>(parts));
    cpu::for_each_task(parts, [&](index_t k) {
      const index_t first = cpu::part_begin(count_, parts, k);
      index_t to = first;
      for (index_t i = first; i < cpu::part_begin(count_, parts, k + 1); ++i) {
        items_[to] = items_[i];
        to += keep(items_[i]);
      }
      kept[k] = to - first;
    });
    index_t end = kept[0];
    for (index_t k = 1; k < parts; ++k) {
      const std::int32_t* const from = items_.data() + cpu::part_begin(count_, parts, k);
      std::copy(from, from + kept[k], items_.data() + end);
      end += kept[k];
    }
    count_ = end;
  }

private:
  host_array<std::int32_t> items_;
  index_t count_;
};

} // namespace

host_array<std::uint8_t> independent_at_distance_two(const strong_graph& g) {
  const index_t n = g.nodes();
  const int bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n) + 1)); // number + 1 is neither 0 nor all ones
  const graph_view view = view_of(g);
  host_array<word> own(n), near(n);
  list undecided(n);
  undecided.for_each([&](std::int32_t i) { own[i] = near[i] = out_of_set; });
  undecided.filter([&](std::int32_t i) { return !g.alone(i); });
  list watched = undecided; // whose least word around may still change
  for (int round = 0; !undecided.empty(); ++round) {
    undecided.for_each([&](std::int32_t i) { own[i] = word_of(i, round, bits); });
    watched.for_each([&](std::int32_t i) { near[i] = least_around(view, own.data(), i); });
    undecided.for_each([&](std::int32_t i) { own[i] = decided(view, near.data(), own[i], i); });
    undecided.filter([&](std::int32_t i) { return !is_decided(own[i]); });
    watched.filter([&](std::int32_t i) { return !is_decided(near[i]); });
  }
  host_array<std::uint8_t> chosen(n);
  cpu::for_each_range(n, aggregated_at_once, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) chosen[i] = own[i] == in_set;
  });
  return chosen;
}

aggregates aggregates_of(const strong_graph& g, const host_array<std::uint8_t>& root) {
  const index_t n = g.nodes();
  const graph_view view = view_of(g);
  aggregates found{host_array<std::int32_t>(n)};
  host_array<std::int32_t> number(n), first(n);
  for (index_t i = 0; i < n; ++i) number[i] = root[i] ? static_cast<std::int32_t>(found.count++) : -1;
  cpu::for_each_range(n, aggregated_at_once, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) first[i] = root_beside(view, number.data(), i);
  });
  cpu::for_each_range(n, aggregated_at_once, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) found.of[i] = first[i] < 0 ? strongest(view, first.data(), i) : first[i];
  });
  return found;
}

} // namespace furrow::amg
