// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioners/entry.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"

#include <limits>

namespace furrow {
namespace {

template <class V> struct jacobi : testing::Test {
  static auto make(const coo<double>& a) {
    return make_preconditioner<V>("jacobi", kit::as_precision<V>(a), device{}, {{true, true}, {true, true}});
  }
  static status refusal_of(const coo<double>& a) {
    return kit::refused_by([&] { make(a); }).why;
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(jacobi, precisions);

TYPED_TEST(jacobi, multiplies_by_the_inverse_diagonal) {
  using V = TypeParam;
  auto a = kit::laplacian(50, 40);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] = 1 + double(a.row[k]);
  const auto m = this->make(a);
  const auto r = kit::random_vector<V>(2000, 1);
  kit::guarded<V, kit::host_side> x(r), z = kit::guarded<V, kit::host_side>::unwritten(2000);
  m->apply(x.get(), z.get());
  const auto got = z.take();
  for (index_t i = 0; i < 2000; ++i) ASSERT_EQ(got[i], V(1) / V(1 + i) * r[i]) << i;
}

TYPED_TEST(jacobi, offers_its_diagonal_to_solvers) {
  const auto m = this->make(kit::diagonal({2, 4, 8}));
  EXPECT_EQ(m->what(), any_preconditioner<TypeParam>::kind::diagonal);
  const auto d = m->diagonal();
  ASSERT_EQ(d.size, 3);
  EXPECT_EQ(d[0], TypeParam(0.5));
  EXPECT_EQ(d[2], TypeParam(0.125));
  EXPECT_EQ(m->stored_bytes(), 3.0 * sizeof(TypeParam));
}

TYPED_TEST(jacobi, takes_the_size_of_rows_where_a_solver_needs_a_definite_m_of_any_symmetric_matrix) {
  const auto a = kit::assemble({4, 4}, {{0, 0, -4}, {0, 1, 8}, {1, 0, 8}, {2, 2, 2}});
  const auto m = make_preconditioner<TypeParam>("jacobi", kit::as_precision<TypeParam>(a), device{},
                                                {{true, false}, {true, true}});
  const auto d = m->diagonal();
  ASSERT_EQ(d.size, 4);
  EXPECT_EQ(d[0], TypeParam(0.25));  // |a_11|
  EXPECT_EQ(d[1], TypeParam(0.125)); // a zero: the largest of its row
  EXPECT_EQ(d[2], TypeParam(0.5));
  EXPECT_EQ(d[3], TypeParam(1)); // an empty row
}

TYPED_TEST(jacobi, refuses_a_diagonal_that_proves_the_matrix_indefinite) {
  EXPECT_EQ(this->refusal_of(kit::diagonal({1, -2})), status::not_positive_definite);
  EXPECT_EQ(this->refusal_of(kit::diagonal({1, 0})), status::not_positive_definite);
  EXPECT_EQ(this->refusal_of(kit::assemble({2, 2}, {{0, 0, 1}})), status::not_positive_definite);
  EXPECT_EQ(this->refusal_of(kit::diagonal({1, std::numeric_limits<double>::quiet_NaN()})),
            status::not_positive_definite);
}

TYPED_TEST(jacobi, divides_by_any_sign_where_the_solver_needs_no_definite_matrix) {
  using V = TypeParam;
  const auto make_for_any = [](const coo<double>& a) {
    return make_preconditioner<V>("jacobi", kit::as_precision<V>(a), device{}, {});
  };
  const auto d = make_for_any(kit::diagonal({2, -4}));
  EXPECT_EQ(d->diagonal()[1], V(-0.25));
  kit::expect_refusal(status::breakdown, "diagonal entry 2 is 0", [&] {
    make_for_any(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1}}));
  });
}

TYPED_TEST(jacobi, tells_a_negative_matrix_from_an_indefinite_one) {
  const auto what = [&](const coo<double>& a) { return kit::refused_by([&] { this->make(a); }).message; };
  EXPECT_NE(what(kit::diagonal({-1, -2})).find("solve -A x = -b"), std::string::npos);
  EXPECT_EQ(what(kit::diagonal({-1, 2})).find("solve -A x = -b"), std::string::npos);
}

TYPED_TEST(jacobi, refuses_an_inverse_that_overflows) {
  using V = TypeParam;
  const coo<V> a{{2, 2}, {0, 1}, {0, 1}, {V(1), std::numeric_limits<V>::denorm_min()}};
  kit::expect_refusal(status::breakdown, "", [&] {
    make_preconditioner<V>("jacobi", a, device{}, {{true, true}, {true, true}});
  });
}

TEST(none, is_the_identity_and_says_so) {
  const auto m = make_preconditioner<double>("none", kit::diagonal({2, 4}), device{}, {});
  EXPECT_EQ(m->what(), any_preconditioner<double>::kind::identity);
  EXPECT_EQ(m->stored_bytes(), 0);
}

} // namespace
} // namespace furrow
