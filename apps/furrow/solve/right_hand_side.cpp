// SPDX-License-Identifier: BSD-3-Clause
#include "random_vector.hpp"
#include "system.hpp"
#include "text.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "tune/row_error.hpp"

#include <algorithm>
#include <cmath>

namespace furrow::cli {

host_array<double> product_with_ones(const problem& p) {
  auto b = row_sums(p.a);
  const auto beyond = std::ranges::find_if(b, [](double v) { return !std::isfinite(v); });
  // What is not finite in A itself is said by the solve.
  check(beyond == b.end() || !std::ranges::all_of(p.a.val, [](double v) { return std::isfinite(v); }), fault::input,
        "{}: A * ones is beyond the range of f64 in row {}: name a right-hand side by -b", p.name,
        beyond - b.begin() + 1);
  return b;
}

bool vanishes(const host_array<double>& b, const coo<double>& a) {
  index_t k = 0;
  for (index_t i = 0; i < b.size(); ++i) {
    double rounding = 0;
    for (; k < a.nnz() && a.row[k] == i; ++k) rounding += 1e-13 * std::abs(a.val[k]);
    if (!std::isfinite(b[i]) || std::abs(b[i]) > rounding) return false;
  }
  return true;
}

std::optional<vector_columns> given_right_hand_side(const std::string& file, std::optional<host_array<double>>& came,
                                                    index_t rows, const std::string& name, std::string& rhs) {
  if (file.empty() && !came) return {};
  rhs = file.empty() ? "stored" : file;
  if (!file.empty()) return read_vectors_for(file, "-b", rows, "row");
  check(came->size() == rows, fault::input, "{}_b: has {}, but the matrix has {}: name another right-hand side by -b",
        name, counted(came->size(), "element"), counted(rows, "row"));
  return vector_columns{std::move(*came)};
}

vector_columns right_hand_side(const std::string& file, problem& p, std::string& rhs) {
  if (auto given = given_right_hand_side(file, p.b, p.a.shape.rows, p.name, rhs)) return std::move(*given);
  rhs = "ones";
  auto b = product_with_ones(p);
  if (b.size() == 0 || !vanishes(b, p.a)) return {std::move(b)};
  rhs = "random";
  remark(p.name, ones_in_null_space);
  const auto exact = reference_product(p.a, as_cview(random_vector<double>(p.a.shape.cols))).value;
  std::ranges::copy(exact, b.begin());
  return {std::move(b)};
}

} // namespace furrow::cli
