// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include "stencils.hpp"

#include <furrow/coo.hpp>

namespace furrow {

/// Which stencils a matrix has, and which of them a table takes.
struct stencil_plan {
  std::vector<seen_stencil> table; ///< in the order of their numbers
  host_array<std::uint16_t> seen;  ///< of each row the number that its piece of `rows` rows gives its stencil
  std::vector<std::vector<std::uint16_t>> number; ///< [piece][seen]; table.size() where that is not in the table
  std::vector<index_t> rows_before;               ///< of each piece: rows beside the table before it
  host_array<std::int32_t> length;                ///< of each row, where nobody has measured it
  static constexpr index_t rows = 1 << 15;
  bool fits_bytes() const { return index_t(table.size()) <= short_stencil_numbers; }
};

/// Parallel; one pass over the entries, and one over the row indices where nobody has measured the rows. The numbers
/// depend on the matrix alone: the most frequent stencil is 0, of equally frequent ones that of the earlier row comes
/// first (`choose_stencils`).
template <class V> stencil_plan plan_stencils(const coo<V>& a);
template <class V> stencil_plan plan_stencils(const measured_coo<V>& a);
template <class V> stencil_plan plan_stencils(const borrowed_rows<V>& a);

/// As planned. Parallel.
template <class N, class V> stencil<V, N, host_array> to_stencil(const coo<V>& a, const stencil_plan& plan);
template <class N, class V> stencil<V, N, host_array> to_stencil(const measured_coo<V>& a, const stencil_plan& plan);
template <class N, class V> stencil<V, N, host_array> to_stencil(const borrowed_rows<V>& a, const stencil_plan& plan);
template <class V, class N> coo<V> to_coo(const stencil<V, N, host_array>& a);

namespace stencil_format {
inline constexpr std::string_view usage = "stencil[:PERCENT]";
} // namespace stencil_format

} // namespace furrow
