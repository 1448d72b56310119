// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/sanitized.hpp"
#include "kit/solve_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace furrow {
namespace {

/// What symmetric preconditioners promise, for each that says it keeps symmetry and definiteness.
template <class V> struct symmetric_preconditioners : testing::Test {
  static host_array<V> applied(const any_preconditioner<V>& m, const host_array<V>& r) {
    host_array<V> z(r.size());
    m.apply(as_cview(r), as_view(z));
    return z;
  }
  static double dot(const host_array<V>& x, const host_array<V>& y) {
    long double sum = 0;
    for (index_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
    return double(sum);
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(symmetric_preconditioners, precisions);

constexpr const char* all[] = {"ic0",       "ic0:sweeps=1", "ic0:sweeps=4", "fsai", "fsai:2",   "fsai:adaptive",
                               "chebyshev", "chebyshev:9",  "chebyshev:1",  "ssor", "ssor:1.5", "schwarz:5:2"};

TYPED_TEST(symmetric_preconditioners, are_symmetric_and_definite) {
  using V = TypeParam;
  std::vector<const char*> names(std::begin(all), std::end(all));
  names.push_back("schwarz:9:0:inside=dense"); // of few rows alone
  for (const char* matrix : {"poisson2d:20", "elasticity3d:5", "random:700:8"})
    for (const char* name : names) {
      const auto a = generate(matrix).a;
      const auto m = make_preconditioner<V>(name, kit::as_precision<V>(a), {}, {{true, true}, {true, true}});
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto x = kit::random_vector<V>(a.shape.rows, seed), y = kit::random_vector<V>(a.shape.rows, seed + 50);
        const double here = this->dot(x, this->applied(*m, y)), there = this->dot(y, this->applied(*m, x));
        const double size = std::sqrt(this->dot(x, this->applied(*m, x)) * this->dot(y, this->applied(*m, y)));
        ASSERT_GT(this->dot(x, this->applied(*m, x)), 0) << matrix << ' ' << name;
        ASSERT_NEAR(here, there, 100 * std::numeric_limits<V>::epsilon() * size) << matrix << ' ' << name;
      }
    }
}

TYPED_TEST(symmetric_preconditioners, have_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const int before = threads();
  const auto a = kit::as_precision<V>(generate("poisson3d:44").a); // 5 threads with 2^14 rows each
  const auto r = kit::random_vector<V>(a.shape.rows, 1);
  for (const char* name : all) {
    host_array<V> first;
    for (const int count : {1, 2, 5}) {
      if (kit::sanitized() && count == 2) continue; // 5 threads run what 2 do
      set_threads(count);
      const auto z = this->applied(*make_preconditioner<V>(name, a, {}, {{true, true}, {true, true}}), r);
      if (first.empty()) first = z;
      for (index_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], first[i]) << name << ' ' << count;
    }
  }
  set_threads(before);
}

TYPED_TEST(symmetric_preconditioners, save_iterations) {
  const auto a = generate("poisson2d:60").a;
  const auto iterations = [&](const char* name) {
    solve_options o;
    o.precond = name;
    o.rtol = sizeof(TypeParam) == 8 ? 1e-8 : 1e-4;
    const auto b = kit::times(a, host_array<TypeParam>(a.shape.rows, TypeParam(1)));
    const auto s = kit::solve_honestly<TypeParam>(a, b, o);
    EXPECT_EQ(s.report.why, status::converged) << name << ' ' << s.report.message;
    return s.report.iterations;
  };
  const auto jacobi = iterations("jacobi");
  EXPECT_LT(iterations("ic0"), jacobi / 2);
  EXPECT_LT(iterations("fsai"), jacobi * 3 / 4);
  EXPECT_LT(iterations("fsai:2"), iterations("fsai"));
  EXPECT_LT(iterations("fsai:adaptive"), iterations("fsai"));
  EXPECT_LT(iterations("chebyshev"), jacobi / 2);
  EXPECT_LT(iterations("chebyshev:8"), iterations("chebyshev"));
}

TEST(symmetric_preconditioner, refuses_a_diagonal_that_proves_the_matrix_indefinite) {
  for (const char* name : {"ic0", "fsai", "chebyshev", "ssor"}) {
    for (const double bad : {0.0, -1.0}) {
      kit::expect_refusal(status::not_positive_definite, "entry 2", [&] {
        make_preconditioner<double>(name, kit::diagonal({1, bad}), {}, {{true, true}, {true, true}});
      });
    }
    kit::expect_refusal(status::breakdown, "", [&] {
      make_preconditioner<double>(name, kit::diagonal({1, 0}), {}, {});
    });
  }
}

TEST(symmetric_preconditioner, tells_wrong_parameters) {
  const auto make = [](const char* name) {
    make_preconditioner<double>(name, kit::laplacian(5), {}, {{true, true}, {true, true}});
  };
  for (const char* name : {"fsai:0", "fsai:x", "fsai:2:3", "fsai:adaptive:0", "fsai:adaptive:64:2",
                           "fsai:adaptive:5:3:1", "chebyshev:0", "chebyshev:4:5"})
    EXPECT_THROW(make(name), error);
  EXPECT_THROW(find_preconditioner("ic0").lay_out({}, precision::f64, "1"), error);
}

} // namespace
} // namespace furrow
