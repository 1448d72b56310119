// SPDX-License-Identifier: BSD-3-Clause
#include "dense_blocks.hpp"

#include "preconditioners/entry.hpp"
#include "preconditioners/stop.hpp"

#include "kit/guarded.hpp"
#include "kit/iterations.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

using schwarz_preconditioner::cut;
using schwarz_preconditioner::subdomains;
constexpr solver_needs definite{{true, true}, {true, true}};

adjacency graph(const coo<double>& a) { return neighbours_of(rows_of_triplets<double>(a).view()); }

/// B^-1 r for a dense B whose diagonal is dominant.
std::vector<long double> solved_densely(std::vector<long double> b, std::vector<long double> r) {
  const std::size_t n = r.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = b[i * n + k] / b[k * n + k];
      for (std::size_t j = k; j < n; ++j) b[i * n + j] -= factor * b[k * n + j];
      r[i] -= factor * r[k];
    }
  for (std::size_t k = 0; k < n; ++k) r[k] /= b[k * n + k];
  return r;
}

/// Additive Schwarz by definition, with exact solves.
template <class V>
std::vector<long double> by_definition(const coo<V>& a, const subdomains& s, const host_array<V>& r, bool restricted) {
  const index_t n = a.shape.rows;
  std::vector<long double> dense(static_cast<std::size_t>(n * n), 0), z(static_cast<std::size_t>(n), 0);
  for (index_t k = 0; k < a.nnz(); ++k) dense[a.row[k] * n + a.col[k]] = a.val[k];
  for (const auto& part : s.parts) {
    std::vector<long double> block, right;
    for (const auto i : part.rows) {
      right.push_back(r[s.order[i]]);
      for (const auto j : part.rows) block.push_back(dense[s.order[i] * n + s.order[j]]);
    }
    const auto answer = solved_densely(block, right);
    for (std::size_t k = 0; k < part.rows.size(); ++k)
      if (const auto i = part.rows[k]; !restricted || (i >= part.first && i < part.last)) z[s.order[i]] += answer[k];
  }
  return z;
}

TEST(schwarz_subdomains, cover_all_rows_once_and_reach_as_far_as_their_overlap) {
  for (const auto& a : {kit::laplacian(9, 8), generate("random:200:3").a, kit::diagonal({1, 2, 3})})
    for (const index_t count : {1, 3})
      for (const index_t overlap : {0, 1, 2}) {
        const auto g = graph(a);
        const auto s = cut(g, count, overlap);
        index_t owned = 0;
        for (const auto& part : s.parts) {
          EXPECT_EQ(part.first, owned);
          owned = part.last;
          std::vector<index_t> distance(static_cast<std::size_t>(a.shape.rows), 99);
          for (index_t k = part.first; k < part.last; ++k) distance[s.order[k]] = 0;
          for (index_t layer = 1; layer <= overlap; ++layer)
            for (index_t i = 0; i < a.shape.rows; ++i)
              for (index_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e)
                if (distance[g.col[e]] == layer - 1) distance[i] = std::min(distance[i], layer);
          ASSERT_TRUE(std::ranges::is_sorted(part.rows));
          for (index_t k = 0; k < a.shape.rows; ++k)
            ASSERT_EQ(std::ranges::binary_search(part.rows, k), distance[s.order[k]] < 99) << count << ' ' << overlap;
        }
        EXPECT_EQ(owned, a.shape.rows);
      }
}

template <class V> struct schwarz : testing::Test {
  static host_array<V> applied(const coo<V>& a, const std::string& name, const host_array<V>& r, solver_needs needed) {
    const auto m = make_preconditioner<V>(name, a, device{}, needed);
    kit::guarded<V, kit::host_side> given(r), z = kit::guarded<V, kit::host_side>::unwritten(r.size());
    m->apply(given.get(), z.get());
    return z.take();
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(schwarz, precisions);

/// Incomplete factors of a chain are complete.
TYPED_TEST(schwarz, is_what_its_formula_says) {
  using V = TypeParam;
  const index_t n = 90;
  const auto chain = [](double below, double above) {
    return kit::as_precision<V>(kit::from_function(n, [&](index_t i, index_t j) {
      return i == j ? 3.0 + double(i % 4) : i == j + 1 ? below : j == i + 1 ? above : 0.0;
    }));
  };
  const auto r = kit::random_vector<V>(n, 4);
  for (const index_t count : {1, 4, 7})
    for (const index_t overlap : {0, 1, 3})
      for (const bool restricted : {true, false}) {
        const auto a = chain(-1, restricted ? 0.5 : -1);
        const auto s = cut(neighbours_of(rows_of_triplets<V>(a).view()), count, overlap);
        const auto name = "schwarz:" + std::to_string(count) + ':' + std::to_string(overlap);
        const auto got = this->applied(a, name, r, restricted ? solver_needs{} : definite);
        const auto wanted = by_definition(a, s, r, restricted);
        for (index_t i = 0; i < n; ++i)
          ASSERT_NEAR(double(got[i]), double(wanted[i]), 20 * std::numeric_limits<V>::epsilon()) << name << ' ' << i;
      }
}

/// A grid, whose incomplete factors are not complete.
TYPED_TEST(schwarz, with_dense_subdomains_is_what_its_formula_says) {
  using V = TypeParam;
  for (const bool restricted : {true, false}) {
    const auto a = kit::as_precision<V>(restricted ? generate("convection2d:9:30").a : kit::laplacian(9, 9));
    const auto r = kit::random_vector<V>(81, 4);
    for (const index_t count : {1, 4, 7})
      for (const index_t overlap : {0, 2}) {
        const auto s = cut(neighbours_of(rows_of_triplets<V>(a).view()), count, overlap);
        const auto name = "schwarz:" + std::to_string(count) + ':' + std::to_string(overlap) + ":inside=dense";
        const auto got = this->applied(a, name, r, restricted ? solver_needs{} : definite);
        const auto wanted = by_definition(a, s, r, restricted);
        for (index_t i = 0; i < 81; ++i)
          ASSERT_NEAR(double(got[i]), double(wanted[i]), 500 * std::numeric_limits<V>::epsilon()) << name << ' ' << i;
      }
  }
}

TYPED_TEST(schwarz, has_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const int before = threads();
  const auto a = kit::as_precision<V>(generate("convection2d:120:10").a);
  const auto r = kit::random_vector<V>(a.shape.rows, 1);
  for (const char* name : {"schwarz", "schwarz:200:0:inside=dense"}) {
    host_array<V> first;
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      const auto z = this->applied(a, name, r, {});
      if (first.empty()) first = z;
      for (index_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], first[i]) << name << ' ' << count;
    }
  }
  set_threads(before);
}

using kit::iterations;

/// On one thread: another one may be through with all parts before the caller, which alone asks, has begun one.
TEST(schwarz_subdomains, end_when_they_are_asked_to) {
  set_threads(1);
  const auto g = graph(kit::laplacian(30, 30));
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> {
    if (++asked < 3) return {};
    return refusal{status::interrupted, "enough"};
  });
  EXPECT_THROW(cut(g, 4, 3), refusal);
  EXPECT_EQ(asked, 3);
  set_threads(0);
}

TEST(schwarz, gains_by_overlap) {
  const auto none = iterations("convection2d:80:10", "gmres:50", "schwarz:16:0");
  const auto one = iterations("convection2d:80:10", "gmres:50", "schwarz:16:2");
  EXPECT_LT(one, none);
  EXPECT_LT(none, iterations("convection2d:80:10", "gmres:50", "jacobi"));
  EXPECT_LT(iterations("poisson2d:80", "cg", "schwarz:16"), iterations("poisson2d:80", "cg", "jacobi"));
}

TEST(schwarz, gains_by_dense_subdomains) {
  EXPECT_LT(iterations("poisson2d:40", "cg", "schwarz:8:inside=dense"), iterations("poisson2d:40", "cg", "schwarz:8"));
  EXPECT_LT(iterations("convection2d:40:10", "gmres:50", "schwarz:8:inside=dense"),
            iterations("convection2d:40:10", "gmres:50", "schwarz:8"));
}

TEST(schwarz, says_what_it_is) {
  const auto about = [](const coo<double>& a, const char* name, solver_needs needed) {
    return make_preconditioner<double>(name, a, device{}, needed)->describe();
  };
  EXPECT_EQ(about(kit::laplacian(20), "schwarz:2", {}),
            "schwarz: 2 subdomains, overlap 1, restricted, 1.10 times the rows");
  EXPECT_EQ(about(kit::laplacian(20), "schwarz", definite),
            "schwarz: 1 subdomain, overlap 1, symmetric, 1.00 times the rows");
  EXPECT_EQ(about(kit::laplacian(1000), "schwarz:inside=dense", {}),
            "schwarz: 10 dense subdomains, overlap 1, restricted, 1.02 times the rows");
  EXPECT_EQ(about(kit::laplacian(3), "schwarz:9:0", {}),
            "schwarz: 3 subdomains, overlap 0, restricted, 1.00 times the rows");
}

/// Rows 1 and 2 depend on each other, and a diagonal that is not positive.
TEST(schwarz, shifts_dense_subdomains_that_have_no_good_inverse) {
  const auto singular = kit::assemble({3, 3}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 4}, {2, 2, 5}});
  const auto m = make_preconditioner<double>("schwarz:1:0:inside=dense", singular, device{}, {});
  EXPECT_NE(m->describe().find("; diagonals shifted by up to 0.001"), std::string::npos) << m->describe();
  const host_array<double> r(3, 1.0);
  host_array<double> z(3);
  m->apply(as_cview(r), as_view(z));
  for (const double v : z) EXPECT_LT(std::abs(v), 1e4);
  EXPECT_NEAR(z[2], 0.2, 1e-3);

  const auto indefinite = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});
  const solver_needs definite_m{{true, false}, {true, true}};
  const auto d = make_preconditioner<double>("schwarz:1:0:inside=dense", indefinite, device{}, definite_m);
  EXPECT_NE(d->describe().find("shifted"), std::string::npos) << d->describe();
  host_array<double> x(2, 1.0);
  x[1] = -1;
  host_array<double> y(2);
  d->apply(as_cview(x), as_view(y));
  EXPECT_GT(y[0] - y[1], 0);
}

TEST(schwarz, refuses_what_it_cannot_serve) {
  for (const char* name : {"schwarz:0", "schwarz:x", "schwarz:2:-1", "schwarz:2:1:1", "schwarz:2:101",
                           "schwarz:2:inside=lu", "schwarz:inside="})
    EXPECT_THROW(make_preconditioner<double>(name, kit::laplacian(5), {}, {}), error) << name;
  EXPECT_EQ(
      kit::said_by([&] { make_preconditioner<double>("schwarz:2:0:inside=dense", kit::laplacian(3000), {}, {}); }),
      "subdomain 1 of schwarz has 1500 rows with its overlap, dense ones have 512 at most: take "
      "more subdomains, less overlap, or inside=ilu");
}

} // namespace
} // namespace furrow
