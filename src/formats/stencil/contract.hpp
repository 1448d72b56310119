// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include "formats/csr/contract.hpp"

#include <fmt/format.h>

#include <string>

namespace furrow {

namespace stencil_contract {

template <class V, class N> std::string of_table(const stencil<V, N, host_array>& a) {
  if (a.start.empty() || a.start[0] != 0) return "the first stencil does not begin at 0";
  const index_t stencils = stencils_of(a), most = std::numeric_limits<N>::max();
  if (stencils > most) return fmt::format("{} stencils, and numbers up to {}", stencils, most);
  if (a.offset.size() != a.val.size()) return fmt::format("{} offsets and {} values", a.offset.size(), a.val.size());
  for (index_t s = 0; s < stencils; ++s)
    if (a.start[s + 1] < a.start[s]) return fmt::format("stencil {} ends before it begins", s);
  if (a.start[stencils] != a.val.size())
    return fmt::format("the stencils have {} entries, and there are {}", a.start[stencils], a.val.size());
  for (index_t s = 0; s < stencils; ++s)
    for (index_t k = a.start[s] + 1; k < a.start[s + 1]; ++k)
      if (a.offset[k] <= a.offset[k - 1]) return fmt::format("stencil {}: offset {} is not above the one before", s, k);
  return {};
}

template <class V, class N> std::string of_rows(const stencil<V, N, host_array>& a) {
  const index_t stencils = stencils_of(a);
  index_t beside = 0;
  for (index_t row = 0; row < a.shape.rows; ++row) {
    const index_t n = a.number[row];
    if (n > stencils) return fmt::format("row {} has number {} of {} stencils", row, n, stencils);
    if (n == stencils) {
      if (beside >= a.rest_row.size() || a.rest_row[beside] != row)
        return fmt::format("row {} has no stencil and is not beside the table", row);
      ++beside;
      continue;
    }
    const index_t begin = a.start[n], end = a.start[n + 1];
    if (begin < end && (row + a.offset[begin] < 0 || row + a.offset[end - 1] >= a.shape.cols))
      return fmt::format("row {} has a stencil that leaves the matrix", row);
  }
  if (beside != a.rest_row.size())
    return fmt::format("{} rows beside the table, and {} numbers", a.rest_row.size(), beside);
  return {};
}

} // namespace stencil_contract

/// The first promise of stencil.hpp that `a` breaks, or nothing.
template <class V, class N> std::string violation(const stencil<V, N, host_array>& a) {
  if (a.number.size() != a.shape.rows) return fmt::format("{} numbers for {} rows", a.number.size(), a.shape.rows);
  if (auto wrong = stencil_contract::of_table(a); !wrong.empty()) return wrong;
  if (auto wrong = stencil_contract::of_rows(a); !wrong.empty()) return wrong;
  if (a.rest.shape != shape2{a.rest_row.size(), a.shape.cols}) return "the rows beside the table have another shape";
  return violation(a.rest);
}

} // namespace furrow
