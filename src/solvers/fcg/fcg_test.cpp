// SPDX-License-Identifier: BSD-3-Clause
#include "fcg.hpp"

#include "kit/method_check.hpp"

namespace furrow {
namespace {

template <class V> struct fcg : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(fcg, precisions);

TYPED_TEST(fcg, agrees_with_cholesky) { kit::check_against_cholesky<TypeParam>("fcg"); }

TEST(fcg_iterations, are_those_of_cg_where_the_preconditioner_stays) {
  kit::check_steps("fcg", "poisson2d:60", 127, 2); // conjugate gradients in NumPy 2 as in Saad's algorithm 6.18
}

TYPED_TEST(fcg, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>("fcg", "poisson2d:120");
}

/// Another positive diagonal in every step.
template <class V> struct moody final : any_preconditioner<V> {
  void apply(cview<V> r, view<V> z) const override {
    ++calls;
    for (index_t i = 0; i < r.size; ++i) z[i] = r[i] * V(1 + (i * 7 + calls * 13) % 5);
  }
  double stored_bytes() const override { return 0; }
  mutable index_t calls = 0;
};

TYPED_TEST(fcg, takes_a_preconditioner_that_changes) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 30));
  const auto b = kit::random_vector<V>(900, 5);
  const auto op = find_format("csr").cpu.make<V>()(a, {}, "auto");
  const moody<V> m;
  host_array<V> x(900, V(0));
  cpu::space<V> space;
  const auto o = kit::solver_options<V>("fcg", "none");
  const auto report = run_in<fcg_method>(space, {*op, m, as_cview(b), as_view(x), 8, 8, 5}, o);
  EXPECT_EQ(report.why, status::converged) << report.message;
  EXPECT_LT(report.iterations, 1000);
  const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
  EXPECT_LE(truth.norm, o.rtol * truth.norm_b * 1.01 + truth.rounding);
}

/// -1 times the identity, as a preconditioner.
template <class V> struct negative final : any_preconditioner<V> {
  void apply(cview<V> r, view<V> z) const override {
    for (index_t i = 0; i < r.size; ++i) z[i] = i % 2 ? -r[i] : r[i];
  }
  double stored_bytes() const override { return 0; }
};

TYPED_TEST(fcg, names_what_is_not_positive_definite) {
  using V = TypeParam;
  const auto none = kit::solver_options<V>("fcg", "none");
  kit::check_end<V>(kit::diagonal({1, -1, 2}), {1, 2, 3}, none, status::not_positive_definite, "p'Ap");

  const auto a = kit::as_precision<V>(kit::diagonal({1, 2, 3, 4}));
  const auto op = find_format("csr").cpu.make<V>()(a, {}, "auto");
  const negative<V> m;
  const host_array<V> b{1, 5, 1, 5};
  host_array<V> x(4, V(0));
  cpu::space<V> space;
  const auto report = run_in<fcg_method>(space, {*op, m, as_cview(b), as_view(x), 4, 4, 1}, none);
  EXPECT_EQ(report.why, status::not_positive_definite) << report.message;
  EXPECT_NE(report.message.find("preconditioner"), std::string::npos) << report.message;
}

TYPED_TEST(fcg, says_that_singular_systems_are) {
  kit::check_inconsistent<TypeParam>("fcg");
  kit::check_end<TypeParam>(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}), {1, -1},
                            kit::solver_options<TypeParam>("fcg", "none"), status::singular, "singular");
}

/// The identity on the first rows, nothing on the others.
struct identity_on_first_half final : any_preconditioner<double> {
  void apply(cview<double> r, view<double> z) const override {
    for (index_t i = 0; i < r.size; ++i) z[i] = 2 * i < r.size ? r[i] : 0;
  }
  double stored_bytes() const override { return 0; }
};

/// The matrix is regular: what it is not good for must not be said of it.
TEST(fcg_singular, is_said_of_the_preconditioner_where_that_one_is) {
  kit::check_end<double>(kit::laplacian(3), {1, 1, 1}, kit::solver_options<double>("fcg", "ssor:1e-300"),
                         status::breakdown, "the preconditioner is singular");
  const identity_on_first_half m;
  for (const auto& a : {kit::laplacian(40),
                        kit::from_function(200, [](index_t i, index_t j) { return i == j ? double(i + 1) : 0.0; })}) {
    const index_t n = a.shape.rows;
    const auto op = find_format("csr").cpu.make<double>()(coo<double>(a), {}, "auto");
    const auto b = kit::random_vector<double>(n, 1);
    host_array<double> x(n, 0.0);
    cpu::space<double> space;
    const auto o = kit::solver_options<double>("fcg", "none");
    const auto report = run_in<fcg_method>(space, {*op, m, as_cview(b), as_view(x), double(n), double(n), 3}, o);
    EXPECT_EQ(report.why, status::breakdown) << report.message;
    EXPECT_NE(report.message.find("the preconditioner is singular"), std::string::npos) << report.message;
  }
}

TYPED_TEST(fcg, overflows_with_a_sentence) {
  // b.A b overflows; double sums hold that of float.
  if (sizeof(TypeParam) == 8)
    kit::check_end<TypeParam>(kit::diagonal({1e300, 3e300}), {1e10, 2e10},
                              kit::solver_options<TypeParam>("fcg", "none"), status::nan, "overflow");
}

TYPED_TEST(fcg, costs_what_its_header_says) {
  using V = TypeParam;
  kit::check_cost<fcg_method, V>("poisson2d:40", "none", false, 3);
  kit::check_cost<fcg_method, V>("poisson2d:40", "jacobi", false, 3);
  kit::check_cost<fcg_method, V>("poisson2d:40", "jacobi", true, 5);
}

} // namespace
} // namespace furrow
