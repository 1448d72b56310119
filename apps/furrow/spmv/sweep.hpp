// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "spmv_request.hpp"

#include <furrow/formats.hpp>

namespace furrow::cli {

/// `furrow spmv --sweep`: every number of lanes and threads a block that a classic kernel of the GPU takes. "auto"
/// becomes `vector` of csr. Throws `fault::usage` where there is nothing to sweep, or no speed to measure.
void check_sweep(spmv_request& q);

/// The choice once for each of its numbers, blocks first.
std::vector<choice> sweep_of(const choice& c);

/// GB/s of the results: a line a block, a column a number of lanes; the fastest one below, by its name.
std::string sweep_table(const spmv_outcome& o);

} // namespace furrow::cli
