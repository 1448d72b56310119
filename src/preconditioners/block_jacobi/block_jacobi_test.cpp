// SPDX-License-Identifier: BSD-3-Clause
#include "inverse.hpp"

#include "preconditioners/entry.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <limits>
#include <vector>

namespace furrow {
namespace {

TEST(block_inverse, inverts_with_row_exchanges) {
  for (const index_t k : {1, 2, 3, 8, 31}) {
    kit::splitmix random(static_cast<std::uint64_t>(k));
    std::vector<double> a(static_cast<std::size_t>(k * k));
    for (double& v : a) v = random.value();
    for (index_t i = 0; i < k && k > 1; ++i) a[i * k + i] = 0; // every pivot wants another row
    auto inverse = a;
    ASSERT_TRUE(block_jacobi_preconditioner::invert(inverse, k));
    for (index_t i = 0; i < k; ++i)
      for (index_t j = 0; j < k; ++j) {
        long double sum = 0;
        for (index_t l = 0; l < k; ++l) sum += static_cast<long double>(a[i * k + l]) * inverse[l * k + j];
        ASSERT_NEAR(double(sum), i == j, 1e-11) << k;
      }
  }
  std::vector<double> singular{1, 2, 2, 4};
  EXPECT_FALSE(block_jacobi_preconditioner::invert(singular, 2));
}

template <class V> struct block_jacobi : testing::Test {
  static auto make(const coo<double>& a, const std::string& name, bool definite) {
    const matrix_kind kind{definite, definite};
    return make_preconditioner<V>(name, kit::as_precision<V>(a), {}, {kind, kind});
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(block_jacobi, precisions);

TYPED_TEST(block_jacobi, inverts_a_block_diagonal_matrix) {
  using V = TypeParam;
  for (const index_t edge : {1, 3, 5}) {
    kit::splitmix random(4);
    const index_t n = 47; // the last block is smaller
    const auto a = kit::from_function(n, [&](index_t i, index_t j) {
      const double v = random.value();
      return i == j ? 6 + v : i / edge == j / edge ? v : 0.0;
    });
    const auto m = this->make(a, "block_jacobi:" + std::to_string(edge), false);
    const auto x = kit::random_vector<V>(n, 5);
    kit::guarded<V, kit::host_side> r(kit::times(a, x)), z = kit::guarded<V, kit::host_side>::unwritten(n);
    m->apply(r.get(), z.get());
    const auto got = z.take();
    for (index_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], x[i], 20 * std::numeric_limits<V>::epsilon());
  }
}

TYPED_TEST(block_jacobi, finds_the_unknowns_of_a_node_and_solves_strong_couplings) {
  const auto a = generate("elasticity3d:8").a;
  EXPECT_NE(this->make(a, "block_jacobi", true)->describe().find("blocks of 3 x 3"), std::string::npos);
  const auto strong = generate("anisotropic2d:48:100").a; // along its lines
  const auto iterations = [&](const char* name) {
    solve_options o;
    o.solver = "cg";
    o.precond = name;
    o.rtol = sizeof(TypeParam) == 8 ? 1e-8 : 1e-4;
    const auto b = kit::times(strong, host_array<TypeParam>(strong.shape.rows, TypeParam(1)));
    const auto s = kit::solve_honestly<TypeParam>(strong, b, o);
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
    return s.report.iterations;
  };
  EXPECT_LT(iterations("block_jacobi:16"), iterations("jacobi") / 2);
}

TYPED_TEST(block_jacobi, refuses_or_replaces_what_has_no_inverse) {
  const auto a = kit::assemble({4, 4}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}});
  try {
    this->make(a, "block_jacobi:2", true);
    FAIL() << "accepted";
  } catch (const refusal& r) {
    EXPECT_EQ(r.why, status::not_positive_definite);
    EXPECT_NE(r.message.find("from row 1 on"), std::string::npos) << r.message;
  }
  EXPECT_NO_THROW(this->make(a, "block_jacobi:2", false));
  const auto singular = kit::assemble({4, 4}, {{0, 1, 2}, {1, 1, 4}, {2, 2, 1}, {3, 3, 1}});
  const auto m = this->make(singular, "block_jacobi:2", false);
  EXPECT_NE(m->describe().find("1 of 2 are singular"), std::string::npos) << m->describe();
  EXPECT_THROW(this->make(a, "block_jacobi:65", false), error);
}

TYPED_TEST(block_jacobi, and_spai0_say_what_kind_they_are) {
  using V = TypeParam;
  EXPECT_EQ(this->make(kit::laplacian(5), "block_jacobi", true)->what(), any_preconditioner<V>::kind::general);
  const auto a = kit::assemble({2, 2}, {{0, 0, 3}, {0, 1, 4}, {1, 1, -2}});
  const auto m = this->make(a, "spai0", false);
  ASSERT_EQ(m->what(), any_preconditioner<V>::kind::diagonal);
  EXPECT_NEAR(m->diagonal()[0], 3.0 / 25, 1e-7); // the least |m (3, 4) - (1, 0)|
  EXPECT_NEAR(m->diagonal()[1], -0.5, 1e-7);
  EXPECT_THROW(this->make(a, "spai0", true), refusal);
  EXPECT_THROW(this->make(kit::assemble({2, 2}, {{0, 1, 4}, {1, 1, 2}}), "spai0", false), refusal);
}

} // namespace
} // namespace furrow
