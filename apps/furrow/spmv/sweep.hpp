// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "played.hpp"
#include "spmv_request.hpp"

#include <furrow/formats.hpp>

namespace furrow::cli {

/// `furrow spmv --sweep`: every number of lanes and threads a block that a classic kernel of the GPU takes. "auto"
/// becomes `vector` of csr. Throws `fault::usage` where there is nothing to sweep.
void check_sweep(spmv_request& q);

/// The kernel that was checked with each of its numbers, blocks first, for warps of `wave` lanes.
std::vector<std::string> kernels_of_sweep(std::string_view format, std::string_view kernel, int wave);

/// The choice once for each of its numbers, blocks first.
std::vector<choice> sweep_of(const choice& c);

/// GB/s of the results: a line a block, a column a number of lanes; the fastest one below, by its name.
std::string sweep_table(const spmv_outcome& o);
/// The same of kernels that were played: kB of the lines of memory that all loads and stores of a product touch.
std::string sweep_table(const played_outcome& o);

} // namespace furrow::cli
