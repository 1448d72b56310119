// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <array>
#include <cstdint>

namespace furrow {

/// Where the entries of neighbouring rows begin, and how many there are.
struct row_group {
  static constexpr index_t most = 256;
  alignas(64) std::array<index_t, most> begin;
  alignas(64) std::array<std::int32_t, most> length;
  index_t rows = 0; ///< <= most
};

/// to[k apart + i] <- entry k of row i, `padding` behind its last one, for k < width: what formats do that store rows
/// side by side. From front to back, so that lines are written whole, and a vector of rows at a time. Of std::int32_t,
/// float and double.
template <class T>
void put_columns(const row_group& of, std::int32_t width, index_t apart, const T* from, T padding, T* to);

} // namespace furrow
