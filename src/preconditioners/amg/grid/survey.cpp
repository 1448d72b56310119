// SPDX-License-Identifier: BSD-3-Clause
#include "survey.hpp"

#include "backends/cpu/isa.hpp"
#include "box_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow::amg {
namespace {

constexpr index_t block = 512;
constexpr diagonal_extremes none{std::numeric_limits<double>::infinity(), 0};

/// Sums of the rows of a block: of |a_ij|, and of the entries one step back and on along each direction.
struct block_sums {
  double all[block], side[3][2][block];
};

FURROW_INLINE inline void add_place(const double* v, int place, block_sums& s, index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) s.all[i] += std::abs(v[i]);
  for (int axis = 0; axis < 3; ++axis) {
    const int step = place::step(place, axis);
    if (step == 0) continue;
    double* const side = s.side[axis][step > 0];
#pragma omp simd
    for (index_t i = 0; i < n; ++i) side[i] += v[i];
  }
}

FURROW_INLINE inline grid_survey of_rows(const box_matrix& a, index_t first, index_t n, block_sums& s) {
  std::fill_n(s.all, n, 0.0);
  for (auto& sides : s.side)
    for (auto& side : sides) std::fill_n(side, n, 0.0);
  for (int p = 0; p < place::count; ++p)
    if (a.there()[p]) add_place(a.at(p) + first, p, s, n);
  grid_survey g{none, 0, {}};
  const double* const diagonal = a.at(place::centre) + first;
  for (index_t i = 0; i < n; ++i) {
    const double own = std::isnan(diagonal[i]) ? 0 : diagonal[i];
    g.diagonal = {std::min(g.diagonal.least, own), std::max(g.diagonal.largest, own)};
    g.gershgorin = std::max(g.gershgorin, s.all[i] / diagonal[i]);
  }
  for (int axis = 0; axis < 3; ++axis)
    for (index_t i = 0; i < n; ++i) g.along[axis] += std::abs(s.side[axis][0][i]) + std::abs(s.side[axis][1][i]);
  return g;
}

} // namespace

grid_survey survey(const box_matrix& a) {
  const index_t rows = a.rows(), blocks = (rows + block - 1) / block;
  std::vector<grid_survey> of_block(static_cast<std::size_t>(blocks));
  cpu::for_each_range(blocks, 8, [&](index_t first, index_t last) {
    block_sums sums;
    cpu::widest([&]() FURROW_INLINE {
      for (index_t k = first; k < last; ++k)
        of_block[k] = of_rows(a, k * block, std::min(block, rows - k * block), sums);
    });
  });
  grid_survey all{none, 0, {}};
  for (const grid_survey& g : of_block) {
    all.diagonal = {std::min(all.diagonal.least, g.diagonal.least), std::max(all.diagonal.largest, g.diagonal.largest)};
    all.gershgorin = std::max(all.gershgorin, g.gershgorin);
    for (int axis = 0; axis < 3; ++axis) all.along[axis] += g.along[axis];
  }
  weigh_ends(all, a.points());
  return all;
}

} // namespace furrow::amg
