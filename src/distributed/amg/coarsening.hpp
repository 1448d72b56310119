// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/rows_of_rank.hpp"

#include "matrix/rows.hpp"

namespace furrow::amg {

/// The rows of a rank with its own columns from 0 on and behind them those of others, in the order of its plan.
row_matrix<double> joined(const rows_of_rank<double>& a);

/// What takes a rank's rows of a level to its rows of the next one.
struct coarsened {
  row_matrix<double> p; ///< its rows x its aggregates, and behind them those of others that `plan` brings
  row_matrix<double>
      r; ///< its rows of P': its aggregates x its rows, and behind them those that the level's plan brings
  halo_plan plan;
  coo<double> rows;    ///< its rows of P'A P, with the columns of all
  index_t count = 0;   ///< of all ranks together; `rows` is empty where they are too many
  index_t entries = 0; ///< the same, of P'A P
};

/// Smoothed aggregation on ranks. Aggregates are inside ranks, of the strong couplings there. P is smoothed with all
/// strong couplings, so that rows at the border of a rank reach into aggregates of others: where it stops there,
/// cg on poisson2d:600 takes 27 iterations on two ranks in place of 14 on one. Rows of P go to the neighbours that need
/// them, and what a rank works out of P'A P for aggregates of others goes to these, who add it up in the order of the
/// ranks.
/// `inverse`: 1 / diagonal of A; `most`: aggregates on all ranks together that are worth it; omega 0: P is not
/// smoothed. All ranks call it. The same for a number of ranks on every run, whatever the threads. Hears
/// `stops_set_up`.
coarsened coarsen_on_ranks(communicator& c, const rows_of_rank<double>& a, const host_array<double>& inverse,
                           double theta, double omega, double most);

/// All rows of a matrix on all ranks, from those of each.
coo<double> gather_rows(communicator& c, const coo<double>& mine, const std::vector<index_t>& begins);

} // namespace furrow::amg
