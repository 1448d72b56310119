// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <string>
#include <vector>

/// Matrices that tests are made of.
namespace furrow::kit {

struct triplet {
  index_t row, col;
  double value;
};

/// Entries in any order; duplicates are added in the order in which they come.
coo<double> assemble(shape2 shape, std::vector<triplet> entries);

/// The first promise of furrow/coo.hpp that `a` breaks, or nothing.
std::string violation(const coo<double>& a);

struct named_matrix {
  std::string name;
  coo<double> a;
};

/// Small matrices, each of which has broken a sparse kernel somewhere. Values fit f32, and no product of two of them
/// leaves the normal range of f32, so that relative bounds hold.
std::vector<named_matrix> battery();

/// Larger ones, with more entries than a thread or a block takes at a time.
std::vector<named_matrix> large_battery();

/// Both.
std::vector<named_matrix> whole_battery();

/// The Laplacian of a box of nx x ny x nz points: 2 a dimension that has more than one point, minus the neighbours.
/// `periodic` wraps around and adds `shift` to the diagonal, without which it would be singular.
coo<double> laplacian(index_t nx, index_t ny = 1, index_t nz = 1, bool periodic = false, double shift = 0);

/// The entries of a dense n x n matrix, given by value(i, j); zeros are left out.
template <class F> coo<double> from_function(index_t n, F value) {
  std::vector<triplet> entries;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      if (const double v = value(i, j); v != 0) entries.push_back({i, j, v});
  return assemble({n, n}, std::move(entries));
}

coo<double> diagonal(std::vector<double> values);

/// A copy with values of another precision.
template <class V> coo<V> as_precision(const coo<double>& a) { return convert_values<V>(coo<double>(a)); }

} // namespace furrow::kit
