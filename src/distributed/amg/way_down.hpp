// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/amg/levels.hpp"

#include <furrow/communicator.hpp>

#include <string>
#include <vector>

/// The hierarchy of ranks, whoever does the work: processors or GPUs.
namespace furrow::amg {

/// Of the diagonals of all ranks.
diagonal_extremes over_ranks(communicator& c, diagonal_extremes mine);

/// Whether single precision has room for levels of a matrix with that diagonal. Throws a `refusal` where it is not
/// positive.
bool fits_single(const diagonal_extremes& of_all);

/// What all ranks together know of a level.
struct level_outlook {
  index_t unknowns = 0, entries = 0;
  diagonal_extremes diagonal{};
  double lambda = 1;
  bool shrinks = false;
};

/// Makes what takes a level to the next one. The kit holds the level's rows of a rank; all ranks call its functions
/// together:
/// unknowns()    of all ranks
/// entries()     of this one
/// extremes()    of its diagonal
/// look()        works out D^-1 and the bound of the spectrum of D^-1 A, which it gives
/// coarsen(theta, omega, most)  P inside the rank, smoothed by omega, R = P' and its rows of R A P; false, and nothing,
///               where all ranks have no aggregates, or more than `most`
/// coarse_unknowns(), coarse_entries()  of all ranks
template <class Kit> level_outlook way_down(communicator& c, Kit& kit, std::size_t number) {
  level_outlook l{kit.unknowns(), 0, over_ranks(c, kit.extremes())};
  if (!l.diagonal.are_positive()) refuse_indefinite(number);
  l.lambda = kit.look();
  l.entries = static_cast<index_t>(c.sum(double(kit.entries())));
  const double theta = theta_of(double(l.entries), double(l.unknowns), 1, number);
  const double most = double(l.unknowns) / least_shrinking;
  l.shrinks = kit.coarsen(theta, 4 / (3 * l.lambda), most);
  if (l.shrinks && double(kit.coarse_entries()) > most_blocks_a_row * double(kit.coarse_unknowns()))
    kit.coarsen(theta, 0, most);
  return l;
}

/// What the sentence about a hierarchy on ranks says of it.
struct spoken_of_ranks {
  int degree, ranks;
  std::size_t among; ///< levels that lie among the ranks
  std::size_t bits;
  index_t gathered; ///< rows of the level that each rank has; 0: the last one is smoothed only
};
std::string sentence_of_ranks(const std::vector<multigrid_level>& levels, const spoken_of_ranks& words);

/// The preconditioner of the gathered levels: "amg:sa:2".
std::string name_of_gathered(int degree);

} // namespace furrow::amg
