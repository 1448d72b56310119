// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/matrices.hpp"

#include <furrow/solve.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace furrow::kit {

/// A stiffness matrix of nodes in space or in a plane, and where they are.
struct elastic_body {
  coo<double> a;
  std::shared_ptr<node_coordinates> points;
};

/// Linear elasticity on a grid of isoparametric cells, bilinear or trilinear, whose node (i, j, k) lies at `place` of
/// it: mu = 1, lambda = 3/2, two Gauss points a direction. Rigid motions have no strain at any of these points,
/// whatever the shape of the cells. `clamped`: the nodes of i = 0 have no unknowns.
class elastic_grid {
public:
  using point = std::array<double, 3>;

  elastic_grid(std::array<index_t, 3> cells, int dims, std::function<point(double, double, double)> place)
      : cells_(cells), dims_(dims), corners_(1 << dims), place_(std::move(place)) {
    if (dims == 2) cells_[2] = 0;
  }

  elastic_body body(bool clamped) const {
    const std::array<index_t, 3> side{cells_[0] + 1, cells_[1] + 1, cells_[2] + 1};
    const index_t first = clamped ? 1 : 0, nodes = (side[0] - first) * side[1] * side[2];
    const auto number = [&](const std::array<index_t, 3>& n) { // the longest direction last, as in a band
      return n[0] < first ? index_t(-1) : ((n[0] - first) * side[1] + n[1]) * side[2] + n[2];
    };
    elastic_body b{{}, std::make_shared<node_coordinates>(node_coordinates{dims_, host_array<double>(nodes * dims_)})};
    std::vector<triplet> entries;
    for (index_t i = 0; i < side[0]; ++i)
      for (index_t j = 0; j < side[1]; ++j)
        for (index_t k = 0; k < side[2]; ++k) {
          const point x = place_(double(i), double(j), double(k));
          if (const index_t n = number({i, j, k}); n >= 0)
            for (int d = 0; d < dims_; ++d) b.points->values[n * dims_ + d] = x[std::size_t(d)];
          if (i < cells_[0] && j < cells_[1] && (dims_ == 2 || k < cells_[2])) add_cell({i, j, k}, number, entries);
        }
    b.a = assemble({nodes * dims_, nodes * dims_}, std::move(entries));
    return b;
  }

private:
  template <class Number>
  void add_cell(std::array<index_t, 3> cell, Number number, std::vector<triplet>& entries) const {
    std::vector<index_t> node;
    std::vector<point> x;
    for (int c = 0; c < corners_; ++c) {
      const std::array<index_t, 3> n{cell[0] + (c & 1), cell[1] + (c >> 1 & 1), cell[2] + (c >> 2 & 1)};
      node.push_back(number(n));
      x.push_back(place_(double(n[0]), double(n[1]), double(n[2])));
    }
    std::vector<double> k(std::size_t(corners_ * dims_) * std::size_t(corners_ * dims_), 0.0);
    for (int gauss = 0; gauss < corners_; ++gauss) add_gauss_point(gauss, x, k);
    const int n = corners_ * dims_;
    for (int r = 0; r < n; ++r)
      for (int s = 0; s < n; ++s)
        if (node[std::size_t(r / dims_)] >= 0 && node[std::size_t(s / dims_)] >= 0)
          entries.push_back({node[std::size_t(r / dims_)] * dims_ + r % dims_,
                             node[std::size_t(s / dims_)] * dims_ + s % dims_, k[std::size_t(r * n + s)]});
  }
  void add_gauss_point(int gauss, const std::vector<point>& x, std::vector<double>& k) const {
    const double root = 1 / std::sqrt(3.0);
    std::vector<point> slope(x.size()); // of the shape functions, in the cube of side 2
    for (int c = 0; c < corners_; ++c)
      for (int d = 0; d < dims_; ++d) {
        double product = 1;
        for (int e = 0; e < dims_; ++e) {
          const double sign = (c >> e & 1) ? 1 : -1, at = (gauss >> e & 1) ? root : -root;
          product *= e == d ? sign / 2 : (1 + sign * at) / 2;
        }
        slope[std::size_t(c)][std::size_t(d)] = product;
      }
    double jacobian[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int d = 0; d < dims_; ++d)
      for (int e = 0; e < dims_; ++e) {
        jacobian[d][e] = 0;
        for (std::size_t c = 0; c < x.size(); ++c) jacobian[d][e] += x[c][std::size_t(d)] * slope[c][std::size_t(e)];
      }
    double cofactor[3][3], volume = 0;
    for (int d = 0; d < 3; ++d)
      for (int e = 0; e < 3; ++e)
        cofactor[d][e] = jacobian[(d + 1) % 3][(e + 1) % 3] * jacobian[(d + 2) % 3][(e + 2) % 3] -
                         jacobian[(d + 1) % 3][(e + 2) % 3] * jacobian[(d + 2) % 3][(e + 1) % 3];
    for (int e = 0; e < 3; ++e) volume += jacobian[0][e] * cofactor[0][e];
    std::vector<point> g(x.size()); // gradients in space
    for (std::size_t c = 0; c < x.size(); ++c)
      for (int d = 0; d < dims_; ++d)
        for (int e = 0; e < dims_; ++e) g[c][std::size_t(d)] += cofactor[d][e] / volume * slope[c][std::size_t(e)];
    const std::size_t dims = std::size_t(dims_), n = x.size() * dims;
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t s = 0; s < n; ++s) {
        const point &u = g[r / dims], &v = g[s / dims];
        const std::size_t i = r % dims, j = s % dims;
        double value = 1.5 * u[i] * v[j] + u[j] * v[i];
        for (std::size_t d = 0; i == j && d < dims; ++d) value += u[d] * v[d];
        k[r * n + s] += value * volume;
      }
  }

  std::array<index_t, 3> cells_;
  int dims_, corners_;
  std::function<point(double, double, double)> place_;
};

} // namespace furrow::kit
