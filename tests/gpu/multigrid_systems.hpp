// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "on_gpu.hpp"

#include "kit/conductances.hpp"
#include "kit/wind.hpp"

#include <furrow/generate.hpp>

#include <cmath>
#include <vector>

/// What tests of multigrid on the GPU are made of.
namespace furrow {

struct gpu_multigrid : on_gpu_in<double> {};

/// A ring whose nodes are all coupled to one more.
inline coo<double> wheel(index_t n) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 3.1});
    entries.push_back({i, (i + 1) % n, -1});
    entries.push_back({(i + 1) % n, i, -1});
    entries.push_back({i, n, -1});
    entries.push_back({n, i, -1});
  }
  entries.push_back({n, n, double(n) + 1});
  return kit::assemble({n + 1, n + 1}, std::move(entries));
}

/// Conductances that all differ, times 1 + change sin(...).
inline coo<double> conducting(index_t nx, index_t ny, index_t nz, double change, double along_y = 1) {
  return kit::conducting(nx, ny, nz, [&](index_t i, index_t j) {
    const double own = 1 + std::abs(std::sin(double(i) + 0.37 * double(j))), way = j - i == nx ? along_y : 1;
    return own * way * (1 + change * std::sin(0.7 * double(i) - 0.3 * double(j)));
  });
}

/// Nodes of b unknowns, coupled as the rows of a matrix are, each coupling by a matrix that is full.
inline coo<double> by_nodes(const coo<double>& a, int b) {
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < a.nnz(); ++k)
    for (int r = 0; r < b; ++r)
      for (int c = 0; c < b; ++c) {
        const double own = a.row[k] == a.col[k] && r == c ? 0.1 * double(a.row[k] % 5) : 0;
        entries.push_back(
            {a.row[k] * b + r, a.col[k] * b + c, a.val[k] * ((r == c) + 0.3 / (1 + std::abs(r - c))) + own});
      }
  return kit::assemble({a.shape.rows * b, a.shape.cols * b}, std::move(entries));
}

/// Grids, and what is none.
inline std::vector<coo<double>> systems() {
  std::vector<coo<double>> all;
  all.push_back(kit::laplacian(24, 20, 18));
  all.push_back(kit::laplacian(300, 200));
  all.push_back(kit::laplacian(5000));
  all.push_back(generate("anisotropic2d:80:0.01").a);
  all.push_back(kit::jumps(18, 18, 18));
  all.push_back(wheel(6000));
  all.push_back(generate("stencil3d27:16").a);
  return all;
}

/// Grids of one, two and three directions, odd and even, coefficients that jump, and one direction that is weak.
inline std::vector<coo<double>> grids() {
  std::vector<coo<double>> all;
  all.push_back(kit::laplacian(24, 21, 18));
  all.push_back(kit::laplacian(301, 200));
  all.push_back(kit::laplacian(5000));
  all.push_back(generate("anisotropic2d:80:0.01").a);
  all.push_back(generate("stencil3d27:17").a);
  all.push_back(kit::jumps(18, 18, 18));
  return all;
}

/// What is not symmetric: a wind over a grid, over couplings that jump, along one direction, and entries without a
/// partner across the diagonal.
inline std::vector<coo<double>> winds() {
  std::vector<coo<double>> all;
  all.push_back(kit::wind_around(70, 10));
  all.push_back(kit::wind_around(90, 1000, 0.01));
  all.push_back(kit::wind_over_jumps(200, 1));
  all.push_back(generate("convection2d:80:5").a);
  std::vector<kit::triplet> one_way;
  for (index_t i = 0; i < 9000; ++i) {
    one_way.push_back({i, i, 3});
    for (const index_t step : {1, 40, 977}) one_way.push_back({i, (i + step) % 9000, -0.9});
  }
  all.push_back(kit::assemble({9000, 9000}, std::move(one_way)));
  return all;
}

} // namespace furrow
