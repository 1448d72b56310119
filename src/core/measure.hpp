// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/stats.hpp>

namespace furrow {

/// As `measure`, of a `coo` or a `borrowed_coo` that is known to keep its promises.
template <class Triplets> stats measure_trusted(const Triplets& a);

/// What follows from `s.row_length`, `s.shape` and `s.nnz` alone. Parallel.
void measure_lengths(stats& s);

} // namespace furrow
