// SPDX-License-Identifier: BSD-3-Clause
#include "lockstep.hpp"

#include <algorithm>
#include <array>

namespace furrow::play {
namespace {

constexpr int most_lanes = 64, line_bytes = 128, banks = 32, word_bytes = 4;

/// How often shared memory is asked beyond the first time: lanes that take 128 bytes together are served at once,
/// unless they want different words of one bank.
index_t conflicts_of(std::span<const index_t> element, int element_bytes) {
  const int words = std::max(1, element_bytes / word_bytes);
  const auto together = static_cast<std::size_t>(banks / words);
  index_t again = 0;
  for (std::size_t first = 0; first < element.size(); first += together) {
    std::array<std::array<index_t, most_lanes>, banks> wanted{}; // by bank
    std::array<int, banks> count{};
    for (const index_t e : element.subspan(first, std::min(together, element.size() - first))) {
      if (e < 0) continue;
      const auto bank = static_cast<std::size_t>(e * words % banks);
      auto* const begin = wanted[bank].data();
      auto* const end = begin + count[bank];
      if (std::find(begin, end, e) == end) begin[count[bank]++] = e;
    }
    again += std::max(0, *std::max_element(count.begin(), count.end()) - 1);
  }
  return again;
}

/// Different numbers among those of active lanes, each divided by `by`.
index_t different(std::span<const index_t> element, index_t by) {
  std::array<index_t, most_lanes> all{};
  std::size_t n = 0;
  for (const index_t e : element)
    if (e >= 0) all[n++] = e / by;
  std::sort(all.begin(), all.begin() + n);
  return std::unique(all.begin(), all.begin() + n) - all.begin();
}

} // namespace

int lockstep::number_of(const access& a) {
  const auto at = std::find_if(instructions_.begin(), instructions_.end(), [&](const instruction& i) {
    return i.site == a.site && i.array == a.array && i.stores == a.stores;
  });
  const auto number = static_cast<int>(at - instructions_.begin());
  if (at == instructions_.end()) instructions_.push_back({a.site, a.array, a.stores});
  return number;
}

traffic& lockstep::counter(const access& a, const memory& m) {
  const auto key = 2 * static_cast<std::size_t>(a.array) + (a.stores ? 1 : 0);
  if (key >= counter_of_.size()) counter_of_.resize(key + 1, -1);
  if (counter_of_[key] < 0) {
    counter_of_[key] = static_cast<int>(counts_.size());
    const auto& array = m[a.array];
    counts_.push_back({array.name, array.shared, a.stores, array.element_bytes});
  }
  return counts_[static_cast<std::size_t>(counter_of_[key])];
}

void lockstep::issue(const access& first, std::span<const index_t> element, const memory& m) {
  traffic& t = counter(first, m);
  const int size = t.element_bytes;
  ++t.instructions;
  t.lanes += std::count_if(element.begin(), element.end(), [](index_t e) { return e >= 0; });
  t.bytes += different(element, 1) * size;
  if (t.shared) t.conflicts += conflicts_of(element, size);
  else t.lines += different(element, line_bytes / size);
}

void lockstep::fold(std::span<const std::vector<access>> of, const memory& m, std::vector<step>* trace,
                    index_t traced) {
  const std::size_t lanes = of.size();
  lanes_.resize(static_cast<std::size_t>(wave_));
  std::size_t left = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    left += of[l].size();
    lanes_[l].at = 0;
    lanes_[l].number.clear();
    for (const access& a : of[l]) lanes_[l].number.push_back(number_of(a));
  }
  if (left == 0) return;
  for (std::size_t l = 0; l < lanes; ++l) {
    lanes_[l].done.assign(instructions_.size(), 0);
    lanes_[l].total.assign(instructions_.size(), 0);
    for (const int i : lanes_[l].number) ++lanes_[l].total[i];
  }
  const auto has_more = [&](std::size_t l) { return lanes_[l].at < of[l].size(); };
  const auto next = [&](std::size_t l) { return lanes_[l].number[lanes_[l].at]; };
  const auto is_at = [&](std::size_t l, int i, std::uint32_t turn) {
    return has_more(l) && next(l) == i && lanes_[l].done[i] == turn;
  };
  // Whether no lane has this turn of the instruction still before it, but behind something else.
  const auto all_there = [&](int i, std::uint32_t turn) {
    for (std::size_t l = 0; l < lanes; ++l)
      if (!is_at(l, i, turn) && lanes_[l].total[i] > turn && lanes_[l].done[i] <= turn) return false;
    return true;
  };
  element_.resize(static_cast<std::size_t>(wave_));
  while (left > 0) {
    std::size_t chosen = lanes;
    for (std::size_t l = 0; l < lanes && chosen == lanes; ++l)
      if (has_more(l) && all_there(next(l), lanes_[l].done[next(l)])) chosen = l;
    for (std::size_t l = 0; l < lanes && chosen == lanes; ++l) // lanes went different ways: some go ahead
      if (has_more(l)) chosen = l;
    const int i = next(chosen);
    const std::uint32_t turn = lanes_[chosen].done[i];
    const access first = of[chosen][lanes_[chosen].at];
    std::fill(element_.begin(), element_.end(), -1);
    for (std::size_t l = 0; l < lanes; ++l) {
      if (!is_at(l, i, turn)) continue;
      element_[l] = of[l][lanes_[l].at].element;
      ++lanes_[l].at;
      ++lanes_[l].done[i];
      --left;
    }
    issue(first, element_, m);
    const auto& array = m[first.array];
    if (trace && static_cast<index_t>(trace->size()) < traced)
      trace->push_back({array.name, array.shared, first.stores, line_bytes / array.element_bytes, element_});
  }
}

} // namespace furrow::play
