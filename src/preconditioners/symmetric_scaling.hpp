// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entry.hpp"

#include "matrix/rows.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow {

/// |a_ii|^-1/2 of each row, under which a symmetric matrix has a diagonal of ones. Throws a `refusal` for a diagonal
/// entry that is 0, and, where A must be definite, for one that is not positive: e_i' A e_i = a_ii. `instead`: what to
/// take where `who` cannot.
template <class V>
host_array<double> symmetric_scaling(row_view<V> a, bool definite, std::string_view who,
                                     std::string_view instead = "ilu, or none") {
  host_array<double> scale(a.shape.rows);
  for (index_t i = 0; i < a.shape.rows; ++i) {
    double diagonal = 0;
    for (index_t k = a.begin(i); k < a.end(i); ++k)
      if (a.col[k] == i) diagonal = double(a.val[k]);
    if (definite && !(diagonal > 0))
      throw refusal{
          status::not_positive_definite,
          fmt::format("diagonal entry {} is {}: a positive definite matrix has a positive diagonal", i + 1, diagonal)};
    if (diagonal == 0)
      throw refusal{status::breakdown,
                    fmt::format("diagonal entry {} is 0, by which {} would divide: take {}", i + 1, who, instead)};
    scale[i] = 1 / std::sqrt(std::abs(diagonal));
  }
  return scale;
}

} // namespace furrow
