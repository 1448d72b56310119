// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "small_state.hpp"

#include <furrow/coo.hpp>

#include <optional>
#include <vector>

namespace furrow::small_systems {

/// A system on its way to a batch. The triplets may go away when it is packed.
template <class V> struct given_system {
  coo<V> a;
  cview<V> b, x;        ///< right-hand side and first guess
  bool negated = false; ///< -A x = -b is solved
  facts about;          ///< without places
};

/// Systems one behind the other: each array of all of them is one array.
template <class V> struct packed_systems {
  host_array<facts> about;
  host_array<std::int32_t> row_ptr;
  host_array<std::uint16_t> col;
  host_array<V> val, b, first, d; ///< d: inverse diagonals; empty: no preconditioner

  double bytes() const;
};

/// Bytes of a system in there, and of what a device keeps beside it.
template <class V> double packed_bytes(index_t rows, index_t entries, bool diagonal);
template <class V> double device_bytes(index_t rows, index_t entries, bool diagonal);

/// Gives each system its places; offsets of a batch have 64 bits, those inside a system 32, columns 16. Parallel over
/// the systems. diagonal: with 1 / A[i,i]. Systems have at most `most_rows` rows, square, every A[i,i] with an inverse
/// where that is asked for.
template <class V> packed_systems<V> pack(std::vector<given_system<V>>& systems, bool diagonal);

} // namespace furrow::small_systems
