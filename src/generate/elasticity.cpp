// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"

#include <array>

namespace furrow {
namespace {

/// 432 times the stiffness matrix of the unit cube with trilinear shape functions, in whole numbers:
///   K[a,i][b,j] = lambda (d_i N_a, d_j N_b) + mu (d_j N_a, d_i N_b) + mu delta_ij (grad N_a, grad N_b)
/// with mu = 1 and lambda = 3/2: Poisson's ratio 0.3, Young's modulus 2.6. Corner a has the bits x, y, z of a.
/// The integrals are products of integrals over the edges, each a multiple of 1/6.
constexpr auto stiffness = [] {
  std::array<std::array<int, 24>, 24> k{};
  const auto integral = [](int a, int i, int b, int j) {
    int product = 1;
    for (int d = 0; d < 3; ++d) {
      const int p = a >> d & 1, q = b >> d & 1;
      if (i == d && j == d) product *= p == q ? 6 : -6; // (p', q') = +-1
      else if (i == d) product *= p ? 3 : -3;           // (p', q) = +-1/2
      else if (j == d) product *= q ? 3 : -3;           // (p, q') = +-1/2
      else product *= p == q ? 2 : 1;                   // (p, q) = 1/3 or 1/6
    }
    return product;
  };
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          int value = 3 * integral(a, i, b, j) + 2 * integral(a, j, b, i);
          for (int d = 0; i == j && d < 3; ++d) value += 2 * integral(a, d, b, d);
          k[3 * a + i][3 * b + j] = value;
        }
  return k;
}();

/// N^3 unit cubes, (N + 1)^3 nodes of which the face z = 0 is clamped and left out; three unknowns a node, x fastest.
/// Every pair of neighbouring nodes has a full 3 x 3 block, zeros included. An entry is a sum of whole numbers divided
/// once, so the matrix is exactly symmetric.
struct elasticity {
  index_t n = 0, side = 0, size = 0;

  explicit elasticity(const arguments& words) : n(words.whole(0)), side(n + 1), size(words.rows({3, n, side, side})) {}

  struct range {
    index_t first, last;
  };
  range around(index_t x) const { return {x > 0 ? -1 : 0, x < n ? 1 : 0}; }
  range above(index_t z) const { return {z > 1 ? -1 : 0, z < n ? 1 : 0}; } ///< the layer 0 has no unknowns

  shape2 shape() const { return {size, size}; }
  index_t entries() const { return 9 * (3 * side - 2) * (3 * side - 2) * (3 * n - 2); }
  index_t count(index_t row) const {
    const auto width = [](range r) { return r.last - r.first + 1; };
    const index_t node = row / 3, plane = side * side;
    return 3 * width(around(node % side)) * width(around(node / side % side)) * width(above(node / plane + 1));
  }

  /// Of the nodes in the order of their unknowns.
  vector_columns coordinates() const {
    const index_t nodes = size / 3, plane = side * side;
    vector_columns x{host_array<double>(size), 3};
    for (index_t i = 0; i < nodes; ++i) {
      const index_t y = i / side % side, z = i / plane + 1;
      x.values[i] = double(i % side);
      x.values[nodes + i] = double(y);
      x.values[2 * nodes + i] = double(z);
    }
    return x;
  }

  void fill(index_t row, std::int32_t* col, double* val) const {
    const index_t node = row / 3;
    const std::array<index_t, 3> at{node % side, node / side % side, node / side / side + 1};
    const int i = static_cast<int>(row % 3);
    const range x = around(at[0]), y = around(at[1]), z = above(at[2]);
    for (index_t dz = z.first; dz <= z.last; ++dz)
      for (index_t dy = y.first; dy <= y.last; ++dy)
        for (index_t dx = x.first; dx <= x.last; ++dx) {
          const auto block = sum_of_cubes(at, {dx, dy, dz}, i);
          const index_t first = 3 * (node + (dz * side + dy) * side + dx);
          for (int j = 0; j < 3; ++j) {
            *col++ = static_cast<std::int32_t>(first + j);
            *val++ = block[j] / 432.0;
          }
        }
  }

  /// Row i of the block that couples the node `at` with the one at `at + step`: the sum over the cubes of both.
  std::array<int, 3> sum_of_cubes(const std::array<index_t, 3>& at, const std::array<index_t, 3>& step, int i) const {
    std::array<int, 3> sum{};
    for (int a = 0; a < 8; ++a) { // which corner of the cube the node is
      int b = 0;
      bool shared = true;
      for (int d = 0; d < 3; ++d) {
        const index_t mine = a >> d & 1, cube = at[d] - mine, other = mine + step[d];
        shared = shared && cube >= 0 && cube < n && other >= 0 && other <= 1;
        b |= static_cast<int>(other) << d;
      }
      if (!shared) continue;
      for (int j = 0; j < 3; ++j) sum[j] += stiffness[3 * a + i][3 * b + j];
    }
    return sum;
  }
};

} // namespace

extern const generator_entry elasticity3d = generator_of<elasticity>(
    "elasticity3d:N", "linear elasticity on N^3 trilinear cubes, one face clamped, nu = 0.3", "elasticity3d:40");

} // namespace furrow
