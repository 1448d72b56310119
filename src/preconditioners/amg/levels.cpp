// SPDX-License-Identifier: BSD-3-Clause
#include "levels.hpp"

#include "core/counted.hpp"

#include "preconditioners/entry.hpp"

#include <fmt/format.h>

namespace furrow::amg {

void refuse_indefinite(std::size_t level) {
  throw refusal{status::not_positive_definite,
                level == 0 ? "a pivot of the matrix is negative, so it is not positive definite"
                           : fmt::format("level {} of the multigrid hierarchy, P'A P, is not positive definite, so A "
                                         "is not",
                                         level)};
}

void refuse_diagonal(std::size_t level) {
  throw refusal{status::breakdown,
                fmt::format("level {} of the multigrid hierarchy has a diagonal entry that is not positive", level)};
}

std::string ends_dense(index_t rows) {
  return fmt::format("{} {} left: a dense inverse", counted(rows, "row"), rows == 1 ? "is" : "are");
}

std::string ends_without_shrinking(index_t rows) {
  return fmt::format("{} not shrink any more: smoothed only", counted(rows, "row") + (rows == 1 ? " does" : " do"));
}

std::string ends_uncoupled(index_t rows) {
  return fmt::format("{} without couplings {} smoothed only", counted(rows, "row"), rows == 1 ? "is" : "are");
}

std::string sentence(const std::vector<multigrid_level>& levels, std::string_view reason, const spoken& words,
                     int degree, std::size_t bits) {
  double entries = 0;
  for (const multigrid_level& f : levels) entries += double(f.entries);
  return fmt::format("amg:{}:{}: {} level{}{}, {:.2f} times the entries of A, f{}; {}{}", words.kind, degree,
                     levels.size(), levels.size() == 1 ? "" : "s", words.shape,
                     entries / double(std::max<index_t>(levels[0].entries, 1)), bits, reason, words.choice);
}

} // namespace furrow::amg
