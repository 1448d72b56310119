// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "planes.hpp"

/// Products with several vectors on a grid on a GPU: blocks march through its planes.
namespace furrow::gpu {

/// Which rows a block takes: a tile of a plane, through one of the segments of all planes.
struct march_tiles {
  std::int32_t rows = 0, cols = 0, planes = 0;
  std::int32_t width = 0, height = 0, across = 0, tiles = 0, segments = 0; ///< width: along a line
};

/// Planes of a matrix, cut for 2, 4, 8 and 16 vectors.
template <class V> class stencil_march {
public:
  stencil_march(const stencil_planes<V>& planes, shape2 matrix, int multiprocessors);
  const stencil_planes<V>& planes() const { return planes_; }
  /// Whether so many vectors take longer row by row.
  bool gains(index_t count) const;
  /// Y <- A X in the rows whose stencils are told by their bits. False, and nothing done, where there is no kernel for
  /// so many vectors, or X or Y is not aligned to loads of 16 bytes.
  bool multiply(cview<std::uint8_t> number, cview<V> x, view<V> y, index_t count) const;

private:
  stencil_planes<V> planes_;
  march_tiles cut_[4];
};

} // namespace furrow::gpu
