// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <string>
#include <vector>

namespace furrow::picture {

/// Entries of a wide x high grid over the matrix, which has rows and columns.
struct grid {
  index_t wide, high;
  std::vector<index_t> count;

  grid(const coo<double>& a, index_t wide, index_t high);
  index_t at(index_t x, index_t y) const { return x < wide && y < high ? count[y * wide + x] : 0; }
};

/// Dots of the larger side, and of the other one in proportion.
shape2 dots(shape2 shape, index_t most);

/// The places of the entries as an SVG picture, at most `most_cells` cells wide and high: a cell for every entry of a
/// small matrix, otherwise cells by how full their part is. `side`: of the longer one on the paper, at least 384.
std::string spy(const coo<double>& a, const std::string& name, index_t most_cells = 256, double side = 512);

} // namespace furrow::picture
