// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bytes.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <vector>

/// What rank 0 has whole, and each rank in part: part r is [begins[r], begins[r + 1]) of it.
namespace furrow {

/// Elements of a message at most: a communicator may keep copies.
inline constexpr index_t most_at_once = index_t(1) << 20;

/// f(first, last, r) for what is next, from `from` on, of the part of each rank after the first.
template <class F> void for_pieces(const std::vector<index_t>& begins, index_t from, F f) {
  for (std::size_t r = 1; r + 1 < begins.size(); ++r) {
    const index_t first = begins[r] + from, last = std::min(first + most_at_once, begins[r + 1]);
    if (first < last) f(first, last, int(r));
  }
}
inline index_t longest(const std::vector<index_t>& begins) {
  index_t most = 0;
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) most = std::max(most, begins[r + 1] - begins[r]);
  return most;
}

/// Part r of `all`, which rank 0 has, to rank r. All ranks call it.
template <class T> void scatter(communicator& c, cview<T> all, view<T> mine, const std::vector<index_t>& begins) {
  const index_t mine_from = begins[static_cast<std::size_t>(c.rank())];
  if (c.rank() == 0) std::copy_n(all.data, mine.size, mine.data);
  for (index_t from = 0; from < longest(begins); from += most_at_once) {
    std::vector<outgoing> out;
    std::vector<incoming> in;
    for_pieces(begins, from, [&](index_t first, index_t last, int r) {
      if (c.rank() == 0) out.push_back({r, bytes_of(cview<T>(all.data + first, last - first))});
      else if (c.rank() == r) in.push_back({0, bytes_of(view<T>(mine.data + (first - mine_from), last - first))});
    });
    c.start(out, in);
    c.finish();
  }
}
template <class T> host_array<T> scatter(communicator& c, cview<T> all, const std::vector<index_t>& begins) {
  const auto me = static_cast<std::size_t>(c.rank());
  host_array<T> mine(begins[me + 1] - begins[me]);
  scatter(c, all, as_view(mine), begins);
  return mine;
}

/// The way back.
template <class T> void gather(communicator& c, cview<T> mine, view<T> all, const std::vector<index_t>& begins) {
  const index_t mine_from = begins[static_cast<std::size_t>(c.rank())];
  if (c.rank() == 0) std::ranges::copy(mine, all.begin());
  for (index_t from = 0; from < longest(begins); from += most_at_once) {
    std::vector<outgoing> out;
    std::vector<incoming> in;
    for_pieces(begins, from, [&](index_t first, index_t last, int r) {
      if (c.rank() == 0) in.push_back({r, bytes_of(view<T>(all.data + first, last - first))});
      else if (c.rank() == r) out.push_back({0, bytes_of(cview<T>(mine.data + (first - mine_from), last - first))});
    });
    c.start(out, in);
    c.finish();
  }
}

} // namespace furrow
