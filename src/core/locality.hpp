// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/stats.hpp>

namespace furrow {

/// Sectors of x that sampled rows touch, counted in the three ways of `locality`.
struct locality_counts {
  static constexpr index_t window_rows = 1024, slice_rows = 32;
  index_t entries = 0, by_row = 0, by_slice = 0, by_window = 0;
  locality shares() const {
    if (entries == 0) return {};
    const auto share = [&](index_t sectors) { return double(sectors) / double(entries); };
    return {share(by_row), share(by_slice), share(by_window)};
  }
};

/// How near to each other the elements of x are that neighbouring entries need, looked at in 4 to 64 windows of 1024
/// rows that lie evenly over the matrix (`sampled_rows`). s: its sizes. The same numbers for every number of threads.
template <class Triplets> locality measure_locality(const Triplets& a, const stats& s);

} // namespace furrow
