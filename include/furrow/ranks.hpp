// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/coo.hpp>
#include <furrow/solve.hpp>

#include <memory>
#include <vector>

namespace furrow {

/// What a rank has of a system, and what it did.
struct rank_part {
  index_t first = 0, rows = 0, entries = 0;
  index_t halo = 0;       ///< elements of others that it needs for a product
  index_t neighbours = 0; ///< ranks that it gets them from
  index_t coupled = 0;    ///< of its entries, those in columns of others
  double setup_seconds = 0;
  double solve_seconds = 0;
  double waiting_seconds = 0; ///< of the solve, for others: for elements, between GPUs for sums, too
  device where{};             ///< what it computes on
};

/// Of all ranks; every rank gets the same one, but for what only its own clock knows.
struct ranks_report {
  solve_report report;
  std::vector<rank_part> parts;         ///< one a rank
  std::string_view partition = "given"; ///< who cut the rows: "rows", "metis", or the caller
  std::string way; ///< of ranks with GPUs, what they talk through: "peer memory", "NCCL 2.28.9", "the host: ..."
  /// Why the first rank has gathered all rows and solved alone, of the ladder of "auto" the rungs behind the first
  /// `rungs_together`. Empty: the ranks solved together.
  std::string gathered{};
  index_t rungs_together = 0;

  /// Entries that couple two ranks.
  index_t cut() const {
    index_t sum = 0;
    for (const rank_part& p : parts) sum += p.coupled;
    return sum;
  }
};

/// How rank 0 cuts a system that it has whole.
enum class partition {
  rows,  ///< as they follow each other, about as much work for each rank
  metis, ///< by METIS, which couples few; below four rows a rank, and of numbers that are not finite, as `rows`
};

/// A x = b on ranks, each of which holds contiguous rows of A, and the elements of b and x that belong to them.
///
/// A product starts the exchange of the elements of x that neighbours need, multiplies the rank's own columns, waits
/// for the others' elements, and multiplies those. Sums of a solver's step are added over the ranks in their order. The
/// solvers are those of one rank: `solver` is any that solves square systems by products (`cg`, `minres`, `bicgstab`,
/// `gmres`, ...), or "auto": the ladder of docs/auto.md as far as ranks can climb it together, and behind that, where
/// its memory is large enough, the first rank gathers the rows and climbs on alone, with the threads of all ranks of
/// its machine; `gathered` says why, and the next solve begins there. `precond` is "none", "jacobi" (what "auto" means
/// beside a solver that is named), "amg:sa" or "local:NAME": NAME of the block of each rank's own rows and columns,
/// block Jacobi over the ranks. The device is that of the communicator: options name the same one, or none.
///
/// Where the ranks have a GPU each, vectors go there and x comes back. Ranks of one process, whose GPUs reach each
/// other's memory, write elements and sums there themselves, and a chunk of steps runs without the host. Others talk
/// through NCCL where that is there, and those that share a GPU through the host; `communicator::through` may name one,
/// and `ranks_report::way` says which it was. x has the same bits. A GPU that waits for another one for 10 s ends the
/// solve on all of them.
///
/// Clocks, time limits, watchers and monitors (which get the x of all, but for a `checkpoint_keeper`) are rank 0's, and
/// so are all numbers and names of the options: what other ranks give is not looked at. The same bits on every run with
/// the same build and number of ranks, however many threads each has; the ranks of one solve must run the same build on
/// processors of one kind. All ranks call each function together. An error on one is thrown on all of them; what a
/// callback throws ends all: `run_ranks` throws it again, and MPI aborts. Throws as `furrow::solver`; `fault::usage`
/// for what does not run on ranks: other solvers and preconditioners, on GPUs also cg_tutorial, coordinates, values in
/// f32 of a system in f64; `fault::device` for a GPU that does not answer.
template <class V> class solver_on_ranks {
public:
  /// rows: those of this rank, numbered from 0 on, with the columns of the whole matrix; those of rank r follow those
  /// of rank r - 1. The communicator must outlive it.
  solver_on_ranks(communicator& c, coo<V> rows, const solve_options& options);
  solver_on_ranks(solver_on_ranks&&) noexcept;
  ~solver_on_ranks();

  /// b: an element for each row of this rank. x: the same, the first guess on entry, the answer on return.
  ranks_report solve(cview<V> b, view<V> x);

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The part of rank r, `mine`, of a vector that rank 0 has whole, such as the x of a checkpoint: as many elements as it
/// has rows. All ranks call it; what others give as `whole` is not looked at. Throws `fault::usage`, on all, where the
/// parts are not as long as the whole.
template <class V> void scatter_from_first(communicator& c, cview<V> whole, view<V> mine);

/// The same for a system that rank 0 has whole: it cuts the rows so that all have about as many entries, sends each
/// rank its part, and gets x. What other ranks give is not looked at. Takes twice the memory of the triplets on rank 0
/// for that time. By `partition::metis` rows are renumbered inside, for ranks have contiguous ones: b, x and the
/// monitor's x are in the caller's order; throws `fault::device` where libmetis.so.5 cannot be loaded.
template <class V>
ranks_report solve_from_first(communicator& c, coo<V> a, cview<V> b, view<V> x, const solve_options& options,
                              partition how = partition::rows);

} // namespace furrow
