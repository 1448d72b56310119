// SPDX-License-Identifier: BSD-3-Clause
#include "loose_rows.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow::amg {
namespace {

using shares = std::vector<halo_plan::share>;

/// Where each share of some elements begins and ends.
std::vector<index_t> ends_of(const shares& all) {
  std::vector<index_t> ends{0};
  for (const auto& s : all) ends.push_back(s.first + s.count);
  return ends;
}
/// The same of the entries of rows.
std::vector<index_t> ends_of(const shares& all, cview<std::int32_t> lengths) {
  std::vector<index_t> ends{0};
  for (const auto& s : all) {
    index_t sum = ends.back();
    for (index_t k = s.first; k < s.first + s.count; ++k) sum += lengths[k];
    ends.push_back(sum);
  }
  return ends;
}

template <class T>
host_array<T> exchange(communicator& c, const way_of_rows& way, cview<T> mine, const std::vector<index_t>& sent,
                       const std::vector<index_t>& come) {
  host_array<T> to(come.back());
  std::vector<outgoing> out;
  std::vector<incoming> in;
  for (std::size_t k = 0; k < way.sends.size(); ++k)
    if (const index_t count = sent[k + 1] - sent[k]; count > 0)
      out.push_back({way.sends[k].rank, bytes_of(cview<T>(mine.data + sent[k], count))});
  for (std::size_t k = 0; k < way.receives.size(); ++k)
    if (const index_t count = come[k + 1] - come[k]; count > 0)
      in.push_back({way.receives[k].rank, bytes_of(view<T>(to.data() + come[k], count))});
  c.start(out, in);
  c.finish();
  return to;
}

} // namespace

rank_columns rank_columns::with(cview<std::int32_t> globals) const {
  const auto is_own = [&](std::int32_t j) { return j >= first_ && j < first_ + own_; };
  rank_columns wider(first_, own_);
  index_t low = std::numeric_limits<index_t>::max(), high = -1;
  const auto each = [&](auto f) {
    for (const std::int32_t j : others_) f(j);
    for (const std::int32_t j : globals)
      if (!is_own(j)) f(j);
  };
  each([&](index_t j) { low = std::min(low, j), high = std::max(high, j); });
  if (high < 0) return wider;
  wider.low_ = low;
  wider.marks_.resize(static_cast<std::size_t>((high - low) / 64 + 1));
  wider.before_.resize(wider.marks_.size());
  each(
      [&](index_t j) { wider.marks_[static_cast<std::size_t>((j - low) / 64)] |= std::uint64_t(1) << (j - low) % 64; });
  std::int32_t count = 0;
  for (std::size_t w = 0; w < wider.marks_.size(); ++w)
    wider.before_[w] = count, count += std::popcount(wider.marks_[w]);
  wider.others_ = host_array<std::int32_t>(count);
  index_t next = 0;
  for (std::size_t w = 0; w < wider.marks_.size(); ++w)
    for (std::uint64_t left = wider.marks_[w]; left != 0; left &= left - 1)
      wider.others_[next++] = static_cast<std::int32_t>(low + index_t(w) * 64 + std::countr_zero(left));
  return wider;
}

host_array<std::int32_t> rank_columns::others_in(const rank_columns& wider) const {
  host_array<std::int32_t> places(others_.size());
  for (index_t k = 0; k < places.size(); ++k) places[k] = wider.local_of(others_[k]);
  return places;
}

template <class T> host_array<T> exchange_elements(communicator& c, const way_of_rows& way, cview<T> mine) {
  return exchange(c, way, mine, ends_of(way.sends), ends_of(way.receives));
}
template host_array<double> exchange_elements(communicator&, const way_of_rows&, cview<double>);
template host_array<std::int32_t> exchange_elements(communicator&, const way_of_rows&, cview<std::int32_t>);

loose_rows exchange_rows(communicator& c, const way_of_rows& way, const loose_rows& mine) {
  loose_rows come{exchange_elements(c, way, as_cview(mine.length)), {}, {}};
  const auto sent = ends_of(way.sends, as_cview(mine.length)), ends = ends_of(way.receives, as_cview(come.length));
  come.col = exchange(c, way, as_cview(mine.col), sent, ends);
  come.val = exchange(c, way, as_cview(mine.val), sent, ends);
  return come;
}

} // namespace furrow::amg
