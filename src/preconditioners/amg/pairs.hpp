// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "aggregates.hpp"

namespace furrow::amg {

/// Rows put together in pairs by their strongest couplings, of weight -a_ij / max(a_ii, a_jj); couplings that are not
/// positive count for nothing. Rounds, 4: each row that is left takes the heaviest coupling to another such row, of
/// equal ones that with the larger hash; two that take each other are a pair. Who is left after that joins the pair it
/// is coupled to most, or stays by itself. A row without couplings is in no aggregate where `alone` is out of them,
/// otherwise one of its own. Aggregates are numbered by the first rows of their pairs. Parallel but for the numbering;
/// the same for any number of threads. The largest diagonal must be positive.
enum class alone { left_out, kept };
aggregates pairs_of(row_view<double> a, alone rows_alone);

/// P'A P where P is 1 at (i, of[i]): sums of the entries, each in the order of A. Sorted; zeros stay. Parallel, one
/// pass over A; the same bits for any number of threads.
row_matrix<double> summed(row_view<double> a, const aggregates& g);

/// Three times pairs, each of what the last one put together: aggregates of up to 8 rows and a few more, and the matrix
/// that belongs to them.
/// A. Napov, Y. Notay, An algebraic multigrid method with guaranteed convergence rate, 2012, without its check of each
/// aggregate; pairs by handshakes as P. D'Ambra, S. Filippone, P. S. Vassilevski, BootCMatch, 2018.
struct paired {
  aggregates of_rows;
  row_matrix<double> coarse;
};
paired three_times_pairs(row_view<double> a);

} // namespace furrow::amg
