// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/stats.hpp>

namespace furrow {

/// How near to each other the elements of x are that neighbouring entries need, looked at in 8 to 64 windows of 1024
/// rows that lie evenly over the matrix (`sampled_rows`). s: its sizes. The same numbers for every number of threads.
template <class Triplets> locality measure_locality(const Triplets& a, const stats& s);

} // namespace furrow
