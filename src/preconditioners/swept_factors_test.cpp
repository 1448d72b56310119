// SPDX-License-Identifier: BSD-3-Clause
#include "swept_factors.hpp"

#include "ic0/factor.hpp"
#include "ilu/levels.hpp"
#include "symmetric_scaling.hpp"

#include "kit/guarded.hpp"
#include "kit/iterations.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

constexpr solver_needs definite_a_and_m{{true, true}, {true, true}};
using long_numbers = std::vector<long double>;

template <class V> struct sweeps : testing::Test {
  static host_array<V> applied(const coo<double>& a, const std::string& name, const host_array<V>& r,
                               solver_needs needed = {}) {
    const auto m = make_preconditioner<V>(name, kit::as_precision<V>(a), device{}, needed);
    kit::guarded<V, kit::host_side> given(r), z = kit::guarded<V, kit::host_side>::unwritten(r.size());
    m->apply(given.get(), z.get());
    return z.take();
  }
  static double worst(const host_array<V>& z, const auto& wanted) {
    long double off = 0, size = 0;
    for (index_t i = 0; i < z.size(); ++i) {
      off = std::max(off, std::abs(static_cast<long double>(z[i]) - static_cast<long double>(wanted[i])));
      size = std::max(size, std::abs(static_cast<long double>(wanted[i])));
    }
    return double(off / size);
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(sweeps, precisions);

/// K sweeps on a dense triangle T of any diagonal: x <- D^-1 (b - (T - D) x) from x = D^-1 b.
long_numbers swept(const long_numbers& t, const long_numbers& b, int count) {
  const std::size_t n = b.size();
  long_numbers x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = b[i] / t[i * n + i];
  for (int k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      long double sum = b[i];
      for (std::size_t j = 0; j < n; ++j)
        if (j != i) sum -= t[i * n + j] * x[j];
      y[i] = sum / t[i * n + i];
    }
    x = y;
  }
  return x;
}

/// 60 rows, a strong diagonal, other entries anywhere.
coo<double> scattered(bool symmetric) {
  kit::splitmix random(6);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < 60; ++i) {
    entries.push_back({i, i, 6 + random.unit()});
    for (int k = 0; k < 3; ++k) {
      const index_t j = random.below(60);
      const double v = random.value();
      if (j == i) continue;
      entries.push_back({i, j, v});
      if (symmetric) entries.push_back({j, i, v});
    }
  }
  return kit::assemble({60, 60}, std::move(entries));
}

TYPED_TEST(sweeps, of_ilu_are_those_of_the_definition) {
  using V = TypeParam;
  for (const auto& a : {scattered(false), generate("convection2d:7:20").a}) {
    const auto n = static_cast<std::size_t>(a.shape.rows);
    const auto f = ilu_preconditioner::factorise_by_levels(rows_of_triplets<double>(a).view(), 0);
    long_numbers lower(n * n, 0), upper(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      lower[i * n + i] = 1;
      for (index_t e = f.rows.row_ptr[i]; e < f.rows.row_ptr[i + 1]; ++e)
        (e < f.pivot[i] ? lower : upper)[i * n + f.rows.col[e]] = f.rows.val[e];
    }
    const auto r = kit::random_vector<V>(a.shape.rows, 2);
    for (const int count : {1, 2, 3, 4, 7}) {
      const auto wanted = swept(upper, swept(lower, long_numbers(r.begin(), r.end()), count), count);
      const auto got = this->applied(a, "ilu:0:natural:sweeps=" + std::to_string(count), r);
      EXPECT_LT(this->worst(got, wanted), 20 * std::numeric_limits<V>::epsilon()) << count;
    }
  }
}

TYPED_TEST(sweeps, of_ic0_are_those_of_the_definition) {
  using V = TypeParam;
  for (const auto& a : {scattered(true), kit::laplacian(7, 6)}) {
    const auto n = static_cast<std::size_t>(a.shape.rows);
    const rows_of_triplets<double> rows(a);
    const auto scale = symmetric_scaling(rows.view(), true, "test");
    const auto f =
        ic0_preconditioner::factorise(ic0_preconditioner::scaled_lower_part(rows.view(), as_cview(scale)), 0);
    ASSERT_TRUE(f);
    long_numbers lower(n * n, 0), upper(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      lower[i * n + i] = upper[i * n + i] = 1 / static_cast<long double>(f->inverse_diagonal[i]);
      for (index_t e = f->beside.row_ptr[i]; e < f->beside.row_ptr[i + 1]; ++e)
        lower[i * n + f->beside.col[e]] = upper[f->beside.col[e] * n + i] = f->beside.val[e];
    }
    const auto r = kit::random_vector<V>(a.shape.rows, 2);
    for (const int count : {1, 2, 5}) {
      long_numbers scaled(n);
      for (std::size_t i = 0; i < n; ++i) scaled[i] = scale[i] * static_cast<long double>(r[i]);
      auto wanted = swept(upper, swept(lower, scaled, count), count);
      for (std::size_t i = 0; i < n; ++i) wanted[i] *= scale[i];
      const auto got = this->applied(a, "ic0:sweeps=" + std::to_string(count), r, definite_a_and_m);
      EXPECT_LT(this->worst(got, wanted), 20 * std::numeric_limits<V>::epsilon()) << count;
    }
  }
}

/// One less than the levels is enough, for a first x that is b; these matrices have 60 levels at most.
TYPED_TEST(sweeps, are_exact_solves_once_there_are_as_many_as_levels) {
  using V = TypeParam;
  const auto r = kit::random_vector<V>(60, 8);
  const auto shifted = kit::from_function(60, [](index_t i, index_t j) { // no diagonal: rows are matched and scaled
    const index_t d = (j - i + 60) % 60;
    return d == 5 ? 1000.0 : d == 6 ? -7.0 : d == 20 ? 2.5 : 0.0;
  });
  for (const char* name : {"ilu", "ilu:2", "ilu:0:matched", "ilut"})
    for (const auto& a : {scattered(false), kit::laplacian(10, 6), shifted})
      EXPECT_LT(this->worst(this->applied(a, std::string(name) + ":sweeps=60", r), this->applied(a, name, r)),
                2000 * std::numeric_limits<V>::epsilon())
          << name;
  for (const auto& a : {scattered(true), kit::laplacian(10, 6)})
    EXPECT_LT(this->worst(this->applied(a, "ic0:sweeps=60", r, definite_a_and_m),
                          this->applied(a, "ic0", r, definite_a_and_m)),
              200 * std::numeric_limits<V>::epsilon());
  // 14 sweeps for 15 levels of a grid of 10 x 6, one less is not enough.
  const auto exact = this->applied(kit::laplacian(10, 6), "ilu:0:natural", r);
  const auto off = [&](const char* name) { return this->worst(this->applied(kit::laplacian(10, 6), name, r), exact); };
  EXPECT_LT(off("ilu:0:natural:sweeps=14"), 200 * std::numeric_limits<V>::epsilon());
  EXPECT_GT(off("ilu:0:natural:sweeps=12"), off("ilu:0:natural:sweeps=14"));
}

TYPED_TEST(sweeps, have_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const int before = threads();
  const auto a = generate("poisson3d:40").a;
  const auto r = kit::random_vector<V>(a.shape.rows, 1);
  host_array<V> first;
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    const auto z = this->applied(a, "ilu:sweeps=3", r);
    if (first.empty()) first = z;
    for (index_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], first[i]) << count;
  }
  set_threads(before);
}

using kit::iterations;

TEST(sweeps_of_factors, cost_iterations_that_more_of_them_bring_back) {
  const auto exact = iterations("poisson3d:20", "cg", "ic0"), jacobi = iterations("poisson3d:20", "cg", "jacobi");
  index_t before = jacobi;
  for (const int count : {1, 2, 4, 8}) {
    const auto now = iterations("poisson3d:20", "cg", "ic0:sweeps=" + std::to_string(count));
    EXPECT_LE(now, before - (count < 8)) << count;
    before = now;
  }
  EXPECT_LE(before, exact + 1);
  const auto ilu = iterations("convection2d:40:20", "bicgstab", "ilu");
  EXPECT_LE(iterations("convection2d:40:20", "bicgstab", "ilu:sweeps=6"), 2 * ilu);
  EXPECT_LT(iterations("convection2d:40:20", "bicgstab", "ilu:sweeps=6"),
            iterations("convection2d:40:20", "bicgstab", "jacobi"));
}

/// Ones below the diagonal: x_i = b_i - b_{i-1}, while powers of them grow like binomial coefficients.
coo<double> ones_below(index_t n) {
  return kit::from_function(n, [](index_t i, index_t j) { return i >= j ? 1.0 : 0.0; });
}

TEST(sweeps_of_factors, far_from_normal_are_refused_or_said_to_be_off) {
  EXPECT_EQ(make_preconditioner<double>("ilu:0:natural", ones_below(200), {}, {})->describe().find("off"),
            std::string::npos);
  try {
    make_preconditioner<double>("ilu:0:natural:sweeps=20", ones_below(200), {}, {});
    ADD_FAILURE() << "accepted";
  } catch (const refusal& r) {
    EXPECT_EQ(r.why, status::breakdown);
    EXPECT_NE(r.message.find("20 sweeps on each factor of ilu:0 end"), std::string::npos) << r.message;
    EXPECT_NE(r.message.find("leave sweeps out"), std::string::npos) << r.message;
  }
  const auto off = make_preconditioner<double>("ilu:0:natural:sweeps=1", ones_below(200), {}, {})->describe();
  EXPECT_NE(off.find("1 sweep a factor, off the exact solves by"), std::string::npos) << off;
  EXPECT_NE(off.find("they move away, exact solves, without sweeps, are likely to serve better"), std::string::npos)
      << off;
  const auto few = make_preconditioner<double>("ilu:sweeps=1", generate("convection2d:60:1000").a, {}, {})->describe();
  EXPECT_NE(few.find(": more of them, or exact solves, are likely to save iterations"), std::string::npos) << few;
  const auto near = make_preconditioner<double>("ic0:sweeps=9", kit::laplacian(9, 9), {}, definite_a_and_m)->describe();
  EXPECT_EQ(near.find("likely"), std::string::npos) << near;
  EXPECT_EQ(near.rfind("ic0: 9 sweeps a factor, off the exact solves by", 0), 0u) << near;
}

TEST(sweeps_of_factors, are_measured_whatever_the_scales_of_rows_are) {
  const auto measured = [](double rows, double columns) {
    auto a = scattered(false);
    for (index_t k = 0; k < a.nnz(); ++k)
      a.val[k] *= std::pow(rows, double(a.row[k] % 5)) / std::pow(columns, double(a.col[k] % 7));
    const auto said = make_preconditioner<double>("ilu:0:natural:sweeps=2", a, {}, {})->describe();
    return std::stod(said.substr(said.find("by ") + 3));
  };
  const double here = measured(1, 1);
  EXPECT_GT(here, 1e-4);
  EXPECT_LT(here, 0.5);
  EXPECT_EQ(measured(8, 1), here);
  EXPECT_NEAR(std::log10(measured(1, 8) / here), 0, 1);
}

TEST(sweeps_of_factors, take_what_was_said) {
  const auto a = generate("poisson2d:60").a;
  const stats s = measure(a);
  for (const char* name : {"ilu:0:natural:sweeps=3", "ilut:0:0.1:natural:sweeps=1", "ic0:sweeps=2"}) {
    const auto m = make_preconditioner<double>(
        name, a, {}, definite_a_and_m.m.symmetric && name[1] == 'c' ? definite_a_and_m : solver_needs{});
    const auto [entry, parameters] = take_apart(name);
    EXPECT_LE(m->stored_bytes(), find_preconditioner(name).lay_out(s, precision::f64, parameters).bytes) << name;
  }
  for (const char* name : {"ilu:sweeps=0", "ilu:sweeps=101", "ilu:sweeps=x", "ilu:0:sweep=3", "ilut:sweeps=3:sweeps=3",
                           "ic0:3", "ic0:sweeps=-1"})
    EXPECT_THROW(make_preconditioner<double>(name, kit::laplacian(5), {}, {}), error) << name;
}

TEST(sweeps_of_factors, of_a_diagonal_matrix_have_nothing_to_do) {
  const auto z = sweeps<double>::applied(kit::diagonal({2, 4, 8}), "ilu:sweeps=2", host_array<double>(3, 1.0));
  EXPECT_EQ(z[0], 0.5);
  EXPECT_EQ(z[2], 0.125);
}

} // namespace
} // namespace furrow
