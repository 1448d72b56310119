// SPDX-License-Identifier: BSD-3-Clause
#include "levels.hpp"

#include "preconditioners/entry.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/solve_check.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <cmath>
#include <map>
#include <set>

namespace furrow {
namespace {

using ilu_preconditioner::factorise_by_levels;
using places = std::set<std::pair<index_t, index_t>>;

/// n x n, nonsymmetric, a strong diagonal, about `row` other entries a row.
coo<double> scattered(index_t n, int row, std::uint64_t seed) {
  kit::splitmix random(seed);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 2 * double(row) + random.unit()});
    for (int k = 0; k < row; ++k)
      if (const index_t j = random.below(n); j != i) entries.push_back({i, j, random.value()});
  }
  return kit::assemble({n, n}, std::move(entries));
}

/// (L U)[i, j] for all i, j.
std::vector<long double> product_of(const lu_factors& f) {
  const index_t n = f.rows.shape.rows;
  std::vector<long double> product(static_cast<std::size_t>(n * n), 0);
  for (index_t i = 0; i < n; ++i)
    for (index_t e = f.rows.row_ptr[i]; e <= f.pivot[i]; ++e) {
      const index_t k = f.rows.col[e];
      const long double factor = e == f.pivot[i] ? 1 : static_cast<long double>(f.rows.val[e]);
      for (index_t u = f.pivot[k]; u < f.rows.row_ptr[k + 1]; ++u)
        product[i * n + f.rows.col[u]] += factor * f.rows.val[u];
    }
  return product;
}

/// The places of ILU(k) by the definition of levels, densely.
places by_definition(const coo<double>& a, int most) {
  const index_t n = a.shape.rows;
  std::vector<int> level(static_cast<std::size_t>(n * n), 1000);
  for (index_t k = 0; k < a.nnz(); ++k) level[a.row[k] * n + a.col[k]] = 0;
  for (index_t i = 0; i < n; ++i) level[i * n + i] = 0;
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < i; ++k)
      if (level[i * n + k] <= most)
        for (index_t j = k + 1; j < n; ++j)
          if (level[k * n + j] <= most)
            level[i * n + j] = std::min(level[i * n + j], level[i * n + k] + level[k * n + j] + 1);
  places wanted;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      if (level[i * n + j] <= most) wanted.insert({i, j});
  return wanted;
}

TEST(ilu_factors, multiply_to_a_on_their_pattern) {
  for (const auto& a : {scattered(60, 3, 1), kit::laplacian(8, 7), kit::laplacian(4, 4, 4)})
    for (const int level : {0, 1, 2, 5}) {
      const index_t n = a.shape.rows;
      const auto f = factorise_by_levels(rows_of_triplets<double>(a).view(), level);
      EXPECT_EQ(f.replaced, 0);
      const auto wanted = by_definition(a, level);
      std::map<std::pair<index_t, index_t>, double> entries;
      for (index_t k = 0; k < a.nnz(); ++k) entries[{a.row[k], a.col[k]}] = a.val[k];
      const auto product = product_of(f);
      places got;
      for (index_t i = 0; i < n; ++i)
        for (index_t e = f.rows.row_ptr[i]; e < f.rows.row_ptr[i + 1]; ++e) {
          const index_t j = f.rows.col[e];
          got.insert({i, j});
          ASSERT_NEAR(double(product[i * n + j]), (entries[{i, j}]), 1e-13) << i << ' ' << j;
        }
      ASSERT_EQ(got, wanted) << "level " << level;
    }
}

template <class V> struct ilu : testing::Test {
  static auto make(const coo<double>& a, const std::string& name) {
    return make_preconditioner<V>(name, kit::as_precision<V>(a), device{}, {});
  }
  /// |M A x - x| / |x| at most, for a random x.
  static double distance_from_inverse(const coo<double>& a, const std::string& name) {
    const auto x = kit::random_vector<V>(a.shape.rows, 3);
    const auto m = make(a, name);
    kit::guarded<V, kit::host_side> r(kit::times(a, x)), z = kit::guarded<V, kit::host_side>::unwritten(a.shape.rows);
    m->apply(r.get(), z.get());
    const auto got = z.take();
    double worst = 0;
    for (index_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(double(got[i]) - double(x[i])));
    return worst;
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(ilu, precisions);

TYPED_TEST(ilu, inverts_where_nothing_is_left_out) {
  const double unit = std::numeric_limits<TypeParam>::epsilon();
  EXPECT_LT(this->distance_from_inverse(kit::laplacian(200), "ilu"), 1e5 * unit); // its condition is 2e4
  EXPECT_LT(this->distance_from_inverse(scattered(60, 3, 1), "ilu:60"), 100 * unit);
  EXPECT_LT(this->distance_from_inverse(scattered(60, 3, 1), "ilu:60:matched"), 100 * unit);
}

TYPED_TEST(ilu, undoes_a_permutation_and_bad_scales) {
  kit::splitmix random(3);
  auto a = scattered(300, 4, 8);
  for (index_t k = 0; k < a.nnz(); ++k) {
    a.val[k] *= std::pow(10.0, double(a.row[k] % 7) - double(a.col[k] % 5));
    a.row[k] = static_cast<std::int32_t>((a.row[k] + 100) % 300); // no entry of the diagonal stays there
  }
  std::vector<kit::triplet> moved;
  for (index_t k = 0; k < a.nnz(); ++k) moved.push_back({a.row[k], a.col[k], a.val[k]});
  a = kit::assemble(a.shape, moved);
  EXPECT_LT(this->distance_from_inverse(a, "ilu:100"), 2e4 * std::numeric_limits<TypeParam>::epsilon());
  const auto m = this->make(a, "ilu");
  EXPECT_NE(m->describe().find("matched"), std::string::npos) << m->describe();
  EXPECT_EQ(this->make(a, "ilu:0:natural")->describe().find("matched"), std::string::npos);
}

TYPED_TEST(ilu, replaces_pivots_that_vanish_and_says_so) {
  const auto a = kit::assemble({3, 3}, {{0, 1, 1}, {1, 0, 1}, {1, 1, 1}, {2, 2, 4}});
  EXPECT_NE(this->make(a, "ilu:0:natural")->describe().find("1 pivot was too small and replaced, the first in row 1"),
            std::string::npos);
  const auto singular = kit::assemble({3, 3}, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}});
  const auto said = this->make(singular, "ilu")->describe();
  EXPECT_NE(said.find("structurally singular, rank 1 of 3"), std::string::npos) << said;
  for (const auto& [name, matrix] : kit::battery()) {
    if (matrix.shape.rows != matrix.shape.cols) continue;
    for (const char* kind : {"ilu:1", "ilu:0:natural", "ilut"}) {
      const auto m = this->make(matrix, kind);
      const auto r = kit::random_vector<TypeParam>(matrix.shape.rows, 1);
      host_array<TypeParam> z(r.size());
      m->apply(as_cview(r), as_view(z));
      for (const auto v : z) ASSERT_TRUE(std::isfinite(v)) << name << ' ' << kind;
    }
  }
}

TYPED_TEST(ilu, has_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const int before = threads();
  const auto a = generate("poisson3d:60").a;
  const auto r = kit::random_vector<V>(a.shape.rows, 1);
  host_array<V> first;
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    const auto m = this->make(a, "ilu");
    host_array<V> z(r.size());
    m->apply(as_cview(r), as_view(z));
    if (first.empty()) first = z;
    for (index_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], first[i]) << count;
  }
  set_threads(before);
}

TEST(ilu, refuses_what_it_cannot_serve) {
  const auto a = kit::laplacian(10);
  const auto make = [&](const char* name, solver_needs needed = {}) {
    make_preconditioner<double>(name, a, {}, needed);
  };
  EXPECT_THROW(make("ilu:x"), error);
  EXPECT_THROW(make("ilu:-1"), error);
  EXPECT_THROW(make("ilu:0:best"), error);
  EXPECT_THROW(make("ilu:0:auto:1"), error);
  EXPECT_THROW(make("ilut:3:2"), error);
  EXPECT_THROW(make("ilu", {{true, true}, {true, true}}), error);
  EXPECT_NO_THROW(make("ilu:3:auto"));
}

/// Circulant: a shift is on the diagonal only once rows are matched.
coo<double> shifted(index_t n) {
  return kit::from_function(n, [n](index_t i, index_t j) {
    const index_t d = (j - i + n) % n;
    return d == 5 ? 10.0 : d == 6 ? -7.0 : d == 20 ? 2.5 : 0.0;
  });
}

TEST(ilu, lets_bicgstab_solve_what_has_no_diagonal) {
  for (const char* name : {"ilu", "ilu:1", "ilut"}) {
    const auto a = shifted(400);
    const auto s =
        kit::solve_honestly<double>(a, kit::times(a, host_array<double>(400, 1.0)), kit::options("bicgstab", name));
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
    EXPECT_LT(s.report.iterations, 40);
    EXPECT_NE(s.report.precond_about.find("matched"), std::string::npos) << s.report.precond_about;
  }
}

TEST(set_ups, end_when_they_are_asked_to) {
  const auto a = kit::laplacian(60, 60);
  for (const char* name : {"ilu", "ilu:2", "ilut", "ic0"}) {
    int asked = 0;
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (++asked < 100) return {};
      return refusal{status::interrupted, "enough"};
    });
    kit::expect_refusal(status::interrupted, "", [&] { make_preconditioner(name, a, device{}, {}); });
    EXPECT_EQ(asked, 100) << name;
  }
}

} // namespace
} // namespace furrow
