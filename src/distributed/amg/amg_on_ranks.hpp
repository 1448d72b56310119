// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/coo.hpp>
#include <furrow/operator.hpp>

#include <memory>

namespace furrow {

/// Rows of a level that all ranks together take to themselves, each of them all: below, sending costs more than
/// working.
inline constexpr index_t most_gathered_rows = 4096;

/// `amg:sa` over all ranks: a V-cycle of smoothed aggregation whose levels lie among the ranks as A does, and from the
/// first one of at most `gathered` rows on wholly on each. Aggregates are inside ranks, P is not (coarsening.hpp): in a
/// cycle 2 `degree` products with A on each level send what lies at the border of a rank, and so does the way down and
/// the way up; to the gathered levels it is one exchange of their b. Smoothed by Chebyshev polynomials of the fourth
/// kind, before and after. In single precision where the diagonal spans at most 1e30. A node is a row.
///
/// rows: those of this rank, numbered from 0 on, with the columns of all, of a symmetric matrix. Symmetric and definite
/// where A is. The same for a number of ranks on every run, whatever the threads. All ranks call it, and `apply` too.
/// Hears `stops_set_up` of any rank. Throws a `refusal` on all of them where A is not positive definite.
/// R. S. Tuminaro, C. Tong, Parallel smoothed aggregation multigrid: aggregation strategies on massively parallel
/// machines, 2000 (their uncoupled aggregation).
template <class V>
std::unique_ptr<any_preconditioner<V>> amg_on_ranks(communicator& c, const coo<V>& rows, int degree,
                                                    index_t gathered = most_gathered_rows);

} // namespace furrow
