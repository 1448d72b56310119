// SPDX-License-Identifier: BSD-3-Clause
#include "way_down.hpp"

#include "preconditioners/amg/admission.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::amg {

diagonal_extremes over_ranks(communicator& c, diagonal_extremes mine) {
  return {-c.max(-mine.least), c.max(mine.largest)};
}

bool fits_single(const diagonal_extremes& of_all) {
  if (!of_all.are_positive())
    throw refusal{status::not_positive_definite, "a diagonal entry is not positive: amg needs a matrix whose diagonal "
                                                 "is positive"};
  return of_all.largest <= most_span * of_all.least;
}

std::string sentence_of_ranks(const std::vector<multigrid_level>& levels, const spoken_of_ranks& words) {
  double entries = 0;
  for (const multigrid_level& l : levels) entries += double(l.entries);
  return fmt::format("amg:sa:{} over {} rank{}: {} level{}, {} of them among the ranks, {:.2f} times the entries of "
                     "A, f{}; {}",
                     words.degree, words.ranks, words.ranks == 1 ? "" : "s", levels.size(),
                     levels.size() == 1 ? "" : "s", words.among,
                     entries / double(std::max<index_t>(levels[0].entries, 1)), words.bits,
                     words.gathered == 0 ? ends_without_shrinking(levels.back().rows)
                                         : fmt::format("from {} rows on all of them on each rank", words.gathered));
}

std::string name_of_gathered(int degree) { return fmt::format("amg:sa:{}", degree); }

} // namespace furrow::amg
