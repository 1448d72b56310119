// SPDX-License-Identifier: BSD-3-Clause
#include "random_vector.hpp"
#include "solve_request.hpp"
#include "text.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "tune/row_error.hpp"

#include <algorithm>
#include <cmath>

namespace furrow::cli {
namespace {

/// Whether b is zero up to the rounding of A * ones: then ones are in the null space, as for a graph Laplacian.
bool vanishes(const host_array<double>& b, const coo<double>& a) {
  double largest = 0;
  for (const double v : a.val) largest = std::max(largest, std::abs(v));
  return std::ranges::all_of(b, [&](double v) { return std::abs(v) <= 1e-13 * largest; });
}

} // namespace

vector_columns right_hand_side(const std::string& file, problem& p, std::string& rhs) {
  if (file.empty() && !p.b) {
    rhs = "ones";
    auto b = row_sums(p.a);
    if (p.a.nnz() == 0 || !vanishes(b, p.a)) return {std::move(b)};
    rhs = "random";
    remark("A * ones is zero, so ones are in the null space of A: b is A times a random vector instead");
    const auto exact = reference_product(p.a, as_cview(random_vector<double>(p.a.shape.cols))).value;
    std::ranges::copy(exact, b.begin());
    return {std::move(b)};
  }
  rhs = file.empty() ? "stored" : file;
  if (!file.empty()) return read_vectors_for(file, "-b", p.a.shape.rows, "row");
  check(p.b->size() == p.a.shape.rows, fault::input,
        "{}_b: has {} elements, but the matrix has {} rows: name another right-hand side by -b", p.name, p.b->size(),
        p.a.shape.rows);
  return {std::move(*p.b)};
}

} // namespace furrow::cli
