// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/ranks.hpp>

namespace furrow {

/// Least squares on ranks: the first one gathers the rows and solves alone, by "auto", `lsmr` or `lsqr`. b: an element
/// for each row of this rank; x: parts of any size, one behind the other. Throws `fault::input`, on all, for another
/// method; `fault::usage` for vectors that do not fit; `fault::memory` where the first rank cannot have the rows.
template <class V>
ranks_report solve_rectangular(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options);

} // namespace furrow
