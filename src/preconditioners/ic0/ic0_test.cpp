// SPDX-License-Identifier: BSD-3-Clause
#include "factor.hpp"

#include "preconditioners/entry.hpp"

#include "kit/matrices.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace furrow {
namespace {

TEST(ic0_factor, multiplies_to_a_on_its_pattern) {
  const auto a = generate("random:80:5").a;
  const auto rows = rows_of_triplets<double>(a);
  host_array<double> scale(80);
  std::map<std::pair<index_t, index_t>, double> wanted;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) scale[a.row[k]] = 1 / std::sqrt(a.val[k]);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] >= a.col[k]) wanted[{a.row[k], a.col[k]}] = scale[a.row[k]] * a.val[k] * scale[a.col[k]];
  for (const double shift : {0.0, 0.25}) {
    const auto f =
        ic0_preconditioner::factorise(ic0_preconditioner::scaled_lower_part(rows.view(), as_cview(scale)), shift);
    ASSERT_TRUE(f);
    const auto l = [&](index_t i, index_t j) {
      if (i == j) return 1 / f->inverse_diagonal[i];
      for (index_t k = f->beside.row_ptr[i]; k < f->beside.row_ptr[i + 1]; ++k)
        if (f->beside.col[k] == j) return f->beside.val[k];
      return 0.0;
    };
    for (const auto& [place, value] : wanted) {
      long double sum = 0;
      for (index_t k = 0; k <= place.second; ++k)
        sum += static_cast<long double>(l(place.first, k)) * l(place.second, k);
      ASSERT_NEAR(double(sum), value + (place.first == place.second ? shift : 0), 1e-14);
    }
  }
}

TEST(ic0, shifts_the_diagonal_where_a_pivot_is_not_positive) {
  // Positive definite, but the incomplete factor of its pattern meets a negative pivot (D. S. Kershaw, 1978).
  const auto a = kit::from_function(4, [](index_t i, index_t j) {
    return i == j ? 3.0 : (i - j == 1 || j - i == 1) ? -2.0 : (i - j == 3 || j - i == 3) ? 2.0 : 0.0;
  });
  const auto m = make_preconditioner<double>("ic0", a, {}, {{true, true}, {true, true}});
  EXPECT_NE(m->describe().find("added to the diagonal"), std::string::npos) << m->describe();
  EXPECT_EQ(make_preconditioner<double>("ic0", kit::laplacian(9, 9), {}, {{true, true}, {true, true}})->describe(), "");
}

} // namespace
} // namespace furrow
