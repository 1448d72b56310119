// SPDX-License-Identifier: BSD-3-Clause
#include "generate/power.hpp"
#include "generate/randomness.hpp"

#include "core/counted.hpp"

#include "kit/said_by.hpp"

#include <furrow/device.hpp>
#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <numbers>

namespace furrow {
namespace {

const std::vector<std::string> specs{
    "poisson1d:9",
    "poisson2d:7",
    "poisson3d:5",
    "stencil2d9:6",
    "stencil3d27:4",
    "anisotropic2d:6:0.01",
    "convection2d:6:2.5",
    "elasticity3d:2",
    "random:50:7",
    "random:50:8",
    "random:51:8:3",
    "random:10:10",
    "banded:60:7:9",
    "banded:60:8:9:5",
    "banded:20:7:3",
    "powerlaw:80:4:2.5",
    "powerlaw:200:6:2.1:9",
    "dense:13",
    "poisson1d:1",
    "poisson2d:1",
    "stencil3d27:1",
    "elasticity3d:1",
    "random:1:1",
    "banded:5:1:0",
    "dense:1",
    "rectangular:30:70:9",
    "rectangular:5:1:1",
    "disc2d:9",
    "disc2d:1",
    "disc2d:2",
    "ball3d:6",
    "ball3d:1",
    "ball3d:3",
    "varying3d:5:10",
    "varying3d:5:0",
    "varying3d:4:100:3",
    "varying3d:1:50",
};

using dense_matrix = std::vector<std::vector<long double>>;

dense_matrix to_dense(const coo<double>& a) {
  dense_matrix d(a.shape.rows, std::vector<long double>(a.shape.cols, 0));
  for (index_t k = 0; k < a.nnz(); ++k) d[a.row[k]][a.col[k]] = a.val[k];
  return d;
}

bool is_symmetric(const dense_matrix& a) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (a[i][j] != a[j][i]) return false;
  return true;
}

/// Cholesky's factorisation in long double gets through.
bool is_definite(dense_matrix a) {
  const std::size_t n = a.size();
  for (std::size_t k = 0; k < n; ++k) {
    if (!(a[k][k] > 0)) return false;
    const long double pivot = std::sqrt(a[k][k]);
    for (std::size_t i = k; i < n; ++i) a[i][k] /= pivot;
    for (std::size_t j = k + 1; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) a[i][j] -= a[i][k] * a[j][k];
  }
  return true;
}

std::uint64_t fingerprint(const coo<double>& a) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(a.shape.rows * 31 + a.shape.cols));
  for (index_t k = 0; k < a.nnz(); ++k) {
    h = mix(h ^ static_cast<std::uint64_t>(a.row[k]));
    h = mix(h ^ static_cast<std::uint64_t>(a.col[k]));
    h = mix(h ^ std::bit_cast<std::uint64_t>(a.val[k]));
  }
  return h;
}

TEST(generate, triplets_are_sorted_inside_and_counted_by_the_header) {
  for (const auto& spec : specs) {
    const auto p = generate(spec);
    const auto h = generator_header(spec);
    EXPECT_EQ(h.shape, p.a.shape) << spec;
    EXPECT_EQ(h.stored, p.a.nnz()) << spec;
    EXPECT_EQ(p.name, spec);
    for (index_t k = 0; k < p.a.nnz(); ++k) {
      ASSERT_GE(p.a.row[k], 0) << spec;
      ASSERT_LT(p.a.row[k], p.a.shape.rows) << spec;
      ASSERT_GE(p.a.col[k], 0) << spec;
      ASSERT_LT(p.a.col[k], p.a.shape.cols) << spec;
      if (k == 0) continue;
      const bool ascends = p.a.row[k - 1] < p.a.row[k] || (p.a.row[k - 1] == p.a.row[k] && p.a.col[k - 1] < p.a.col[k]);
      ASSERT_TRUE(ascends) << spec << " entry " << k;
    }
  }
}

TEST(generate, all_but_some_are_symmetric_and_positive_definite) {
  for (const auto& spec : specs) {
    if (spec.starts_with("rectangular")) continue;
    const auto a = to_dense(generate(spec).a);
    const bool general = spec.starts_with("convection") || spec.starts_with("powerlaw");
    EXPECT_EQ(is_symmetric(a), !general) << spec;
    EXPECT_TRUE(general || is_definite(a)) << spec;
  }
}

/// A v = lambda v with v = prod sin(pi k_d (x_d + 1) / (N + 1)), lambda = sum of 4 sin^2(pi k_d / (2 (N + 1))).
TEST(generate, sines_are_eigenvectors_of_the_laplacians) {
  for (int dims = 1; dims <= 3; ++dims) {
    const index_t n = 6;
    const auto a = generate("poisson" + std::to_string(dims) + "d:6").a;
    const index_t k[3] = {2, 5, 3};
    const long double step = std::numbers::pi_v<long double> / (n + 1);
    std::vector<long double> v(a.shape.rows, 1), product(a.shape.rows, 0);
    long double lambda = 0;
    for (int d = 0; d < dims; ++d) lambda += 4 * std::pow(std::sin(step * k[d] / 2), 2.0L);
    for (index_t i = 0; i < a.shape.rows; ++i)
      for (index_t d = 0, rest = i; d < dims; ++d, rest /= n) v[i] *= std::sin(step * k[d] * (rest % n + 1));
    for (index_t e = 0; e < a.nnz(); ++e) product[a.row[e]] += a.val[e] * v[a.col[e]];
    for (index_t i = 0; i < a.shape.rows; ++i) EXPECT_NEAR(double(product[i] - lambda * v[i]), 0, 1e-15) << dims;
  }
}

TEST(generate, boxes_are_kronecker_products) {
  // With t = tridiag(1, 1, 1): the 9-point matrix is 9 I - t (x) t, the 27-point one 27 I - t (x) t (x) t.
  const auto t = [](index_t i, index_t j) { return std::abs(i - j) <= 1 ? 1 : 0; };
  const index_t n = 4;
  const auto a = to_dense(generate("stencil2d9:4").a), b = to_dense(generate("stencil3d27:4").a);
  for (index_t i = 0; i < n * n; ++i)
    for (index_t j = 0; j < n * n; ++j) EXPECT_EQ(a[i][j], 9 * (i == j) - t(i % n, j % n) * t(i / n, j / n));
  for (index_t i = 0; i < n * n * n; ++i)
    for (index_t j = 0; j < n * n * n; ++j)
      EXPECT_EQ(b[i][j], 27 * (i == j) - t(i % n, j % n) * t(i / n % n, j / n % n) * t(i / n / n, j / n / n));
}

TEST(generate, anisotropy_and_convection_weigh_their_directions) {
  const auto a = to_dense(generate("anisotropic2d:5:0.25").a), c = to_dense(generate("convection2d:5:3").a);
  EXPECT_EQ(a[12][12], 2.5L);
  EXPECT_EQ(a[12][11], -0.25L);
  EXPECT_EQ(a[12][13], -0.25L);
  EXPECT_EQ(a[12][7], -1);
  EXPECT_EQ(c[12][12], 7);
  EXPECT_EQ(c[12][11], -4);
  EXPECT_EQ(c[12][13], -1);
  EXPECT_EQ(c[12][17], -1);
}

/// radius^2 - |x|^2 is a polynomial of degree 2: the row of a point all of whose neighbours are inside gives its
/// Laplacian, 2 D, exactly. The wall is a share t of a step away where a row has 1 / t for a neighbour.
template <int D> void check_the_inside_of(index_t n) {
  const auto a = generate((D == 2 ? "disc2d:" : "ball3d:") + std::to_string(n)).a;
  const auto at = [&](index_t i, int d) {
    for (; d > 0; --d) i /= n;
    return 2 * (i % n) - (n - 1);
  };
  const auto inside = [&](index_t i) {
    index_t left = (n + 1) * (n + 1);
    for (int d = 0; d < D; ++d) left -= at(i, d) * at(i, d);
    return left;
  };
  std::vector<long double> diagonal(a.shape.rows, 0), bowl(a.shape.rows, 0);
  std::vector<int> count(a.shape.rows, 0);
  for (index_t e = 0; e < a.nnz(); ++e) {
    const index_t row = a.row[e], col = a.col[e];
    ++count[row];
    if (row == col) diagonal[row] = a.val[e];
    else {
      EXPECT_EQ(a.val[e], -1);
      EXPECT_GT(inside(row), 0);
      EXPECT_GT(inside(col), 0);
      index_t apart = 0;
      for (int d = 0; d < D; ++d) apart += std::abs(at(row, d) - at(col, d));
      EXPECT_EQ(apart, 2) << row << ' ' << col;
    }
    bowl[row] += a.val[e] * static_cast<long double>(inside(col)) / 4; // in steps, not in half steps
  }
  index_t whole = 0, cut = 0;
  for (index_t i = 0; i < a.shape.rows; ++i) {
    if (inside(i) <= 0) {
      EXPECT_EQ(count[i], 1);
      EXPECT_EQ(diagonal[i], 1);
    } else if (count[i] == 2 * D + 1) {
      ++whole;
      EXPECT_EQ(diagonal[i], 2 * D);
      EXPECT_EQ(bowl[i], 2 * D);
    } else {
      ++cut;
      long double expected = 0;
      for (int d = 0; d < D; ++d)
        for (const int side : {-1, 1}) {
          const long double along = side * at(i, d), wall = std::sqrt((long double)(inside(i)) + along * along);
          expected += std::max(1.0L, 2 / (wall - along)); // the wall is nearer than the next point, or there is none
        }
      EXPECT_NEAR(double(diagonal[i] / expected), 1, 1e-11) << i;
    }
  }
  EXPECT_GT(whole, cut);
  EXPECT_GT(cut, 0);
}

TEST(generate, circles_and_spheres_cut_a_grid) {
  check_the_inside_of<2>(31);
  check_the_inside_of<3>(14);
  EXPECT_EQ(generate("disc2d:1").a.val[0], 4); // the wall is a step away on all sides
}

TEST(generate, coefficients_vary_at_as_many_places_as_asked_for) {
  const index_t n = 30, size = n * n * n;
  const auto plain = generate("poisson3d:30").a, none = generate("varying3d:30:0").a,
             some = generate("varying3d:30:2").a;
  EXPECT_EQ(fingerprint(none), fingerprint(plain));
  std::vector<bool> other(size, false);
  std::vector<long double> sum(size, 0);
  for (index_t e = 0; e < some.nnz(); ++e) {
    ASSERT_EQ(some.col[e], plain.col[e]);
    if (some.val[e] != plain.val[e]) other[some.row[e]] = true;
    EXPECT_LE(std::abs(plain.val[e]), std::abs(some.val[e]));
    EXPECT_LT(std::abs(some.val[e]), 2 * std::abs(plain.val[e]));
    sum[some.row[e]] += some.val[e];
  }
  // A point of another k changes its own row and those of its neighbours.
  EXPECT_NEAR(double(std::ranges::count(other, true)) / double(size), 1 - std::pow(0.98, 7), 0.01);
  for (index_t i = 0; i < size; ++i) { // nothing flows where u is constant, away from the boundary
    const index_t x = i % n, y = i / n % n, z = i / n / n;
    if (std::min({x, y, z}) > 0 && std::max({x, y, z}) < n - 1) {
      EXPECT_NEAR(double(sum[i]), 0, 4e-15);
    }
  }
  EXPECT_NE(fingerprint(generate("varying3d:9:20:1").a), fingerprint(generate("varying3d:9:20").a));
}

/// The rows of nodes away from the clamped face do no work on rigid motions: translations and rotations.
TEST(generate, elasticity_has_no_force_in_rigid_motions) {
  const index_t n = 4, side = n + 1;
  const auto a = generate("elasticity3d:4").a;
  for (int mode = 0; mode < 6; ++mode) {
    std::vector<long double> u(a.shape.rows), force(a.shape.rows, 0);
    for (index_t i = 0; i < a.shape.rows; ++i) {
      const index_t node = i / 3, d = i % 3;
      const long double at[3] = {(long double)(node % side), (long double)(node / side % side),
                                 (long double)(node / side / side + 1)};
      if (mode < 3) u[i] = d == mode;
      else u[i] = d == (mode + 1) % 3 ? at[(mode + 2) % 3] : d == (mode + 2) % 3 ? -at[(mode + 1) % 3] : 0;
    }
    for (index_t e = 0; e < a.nnz(); ++e) force[a.row[e]] += a.val[e] * u[a.col[e]];
    for (index_t i = 3 * side * side; i < a.shape.rows; ++i) EXPECT_NEAR(double(force[i]), 0, 1e-14) << mode;
  }
}

/// Stretching along z with the transverse contraction -nu leaves only forces on the top face: checks nu and E.
TEST(generate, elasticity_has_the_poisson_ratio_of_its_text) {
  const index_t n = 3, side = n + 1;
  const auto a = generate("elasticity3d:3").a;
  std::vector<long double> u(a.shape.rows), force(a.shape.rows, 0);
  for (index_t i = 0; i < a.shape.rows; ++i) {
    const index_t node = i / 3;
    const long double at[3] = {(long double)(node % side), (long double)(node / side % side),
                               (long double)(node / side / side + 1)};
    u[i] = i % 3 == 2 ? at[2] : -0.3L * at[i % 3];
  }
  for (index_t e = 0; e < a.nnz(); ++e) force[a.row[e]] += a.val[e] * u[a.col[e]];
  long double pull = 0;
  for (index_t i = 3 * side * side; i < a.shape.rows; ++i) {
    const bool top = i / 3 / side / side + 1 == n;
    if (top && i % 3 == 2) pull += force[i];
    else EXPECT_NEAR(double(force[i]), 0, 1e-13) << i;
  }
  EXPECT_NEAR(double(pull), 2.6 * n * n, 1e-12); // stress E on an area of n^2
}

TEST(generate, random_and_banded_rows_have_the_length_asked_for) {
  const auto lengths = [](const coo<double>& a) {
    std::vector<int> length(a.shape.rows, 0);
    for (index_t k = 0; k < a.nnz(); ++k) ++length[a.row[k]];
    return length;
  };
  for (const char* spec : {"random:1000:7", "random:1000:8", "random:1001:9"})
    for (const int l : lengths(generate(spec).a)) EXPECT_EQ(l, spec[12] - '0') << spec;
  EXPECT_NEAR(double(generate("random:10001:8").a.nnz()) / 10001, 8, 0.05);
  const auto banded_lengths = lengths(generate("banded:1000:9:50").a);
  for (index_t i = 50; i < 950; ++i) EXPECT_EQ(banded_lengths[i], 9);
  EXPECT_NEAR(double(generate("banded:20000:8:50").a.nnz()) / 20000, 8, 0.05);
  const auto a = generate("banded:3000:9:50").a;
  index_t widest = 0;
  std::map<index_t, int> seen;
  for (index_t k = 0; k < a.nnz(); ++k) {
    widest = std::max<index_t>(widest, std::abs(a.row[k] - a.col[k]));
    ++seen[a.row[k] - a.col[k]];
  }
  EXPECT_LE(widest, 50);
  EXPECT_GT(seen.size(), 80u); // no few diagonals carry the band
}

TEST(generate, power_law_has_its_mean_and_its_tail) {
  const auto a = generate("powerlaw:100000:8:3").a;
  EXPECT_NEAR(double(a.nnz()) / 100000, 8, 0.2);
  std::vector<index_t> length(100000, 0);
  for (index_t k = 0; k < a.nnz(); ++k) ++length[a.row[k]];
  const auto longer = [&](index_t l) { return double(std::ranges::count_if(length, [&](auto x) { return x >= l; })); };
  EXPECT_NEAR(longer(40) / longer(160), 16, 2.5); // P(length >= l) ~ l^-(ALPHA - 1)
}

TEST(generate, portable_power_is_a_power) {
  for (const double x : {1e-9, 0.3, 1.0, 1.7, 12345.678})
    for (const double e : {-0.9, -0.5, 0.0, 0.25, 3.0})
      EXPECT_NEAR(portable_power(x, e) / std::pow(x, e), 1, 1e-13) << x << "^" << e;
}

TEST(generate, permutations_are_one_to_one_and_inverted) {
  for (const index_t n : {1, 2, 3, 7, 64, 100, 1000}) {
    const permutation p(n, 42);
    std::vector<int> hit(n, 0);
    for (index_t i = 0; i < n; ++i) {
      ++hit.at(p(i));
      EXPECT_EQ(p.inverse(p(i)), i);
    }
    for (const int h : hit) EXPECT_EQ(h, 1);
  }
}

TEST(generate, the_number_of_threads_and_the_day_do_not_matter) {
  for (const char* spec :
       {"poisson3d:30", "random:20000:9", "banded:20000:8:99", "powerlaw:20000:6:2.2", "elasticity3d:9"}) {
    set_threads(1);
    const auto one = fingerprint(generate(spec).a);
    set_threads(7);
    EXPECT_EQ(fingerprint(generate(spec).a), one) << spec;
    set_threads(0);
  }
  EXPECT_NE(fingerprint(generate("random:100:5:1").a), fingerprint(generate("random:100:5:2").a));
  EXPECT_EQ(fingerprint(generate("random:100:5").a), fingerprint(generate("random:100:5:0").a));
}

/// The bits of every generator, so that a change of them is a decision. FURROW_PRINT_FINGERPRINTS=1 prints the table.
TEST(generate, bits_are_those_of_the_first_release) {
  const std::map<std::string, std::uint64_t> golden{
#include "generate_golden.inc"
  };
  for (const auto& g : generators()) {
    const std::string name = g.usage.substr(0, g.usage.find(':'));
    const std::string spec = *std::ranges::find_if(specs, [&](const auto& s) { return s.starts_with(name + ":"); });
    const auto bits = fingerprint(generate(spec).a);
    if (std::getenv("FURROW_PRINT_FINGERPRINTS"))
      printf("    {\"%s\", 0x%016lxu},\n", spec.c_str(), (unsigned long)bits);
    else EXPECT_EQ(bits, golden.at(spec)) << spec;
  }
}

TEST(generate, bad_specs_are_told_what_would_do) {
  const auto says = [](const char* spec) { return kit::said_by(fault::usage, [&] { generate(spec); }); };
  EXPECT_EQ(says("poison3d:9").find("there is no generator 'poison3d': choose one of poisson1d"), 0u);
  EXPECT_EQ(says("poisson3d"), "poisson3d: its argument is missing; usage: poisson3d:N, for example poisson3d:100");
  EXPECT_EQ(says("poisson3d:99999999999999999999")
                .find("poisson3d:99999999999999999999: '99999999999999999999' is too "
                      "large a number; usage: "),
            0u);
  for (const char* spec : {"poisson3d:0",
                           "poisson3d:-3",
                           "poisson3d:x",
                           "poisson3d:3.5",
                           "poisson3d:",
                           "poisson3d:9:9",
                           "poisson3d:2000",
                           "random:9:10",
                           "banded:9:9:3",
                           "banded:9:3:9",
                           "powerlaw:9:3:1.5",
                           "powerlaw:9:nan:3",
                           "anisotropic2d:3:0",
                           "convection2d:3:-1",
                           "varying3d:3:-1",
                           "varying3d:3:101",
                           "varying3d:3:nan",
                           "disc2d:0",
                           "rectangular:9:3:4",
                           "random:9:3:-1",
                           "anisotropic2d:3:1e308",
                           "poisson1d:99999999999999999999"})
    EXPECT_NE(says(spec).find("usage: "), std::string::npos) << spec << ": " << says(spec);
}

TEST(generate, what_no_memory_holds_is_refused_before_it_is_made) {
  try {
    generate("dense:2000000");
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::memory);
  }
}

TEST(generate, generators_are_told_from_files_by_their_form) {
  EXPECT_TRUE(is_generator("poisson3d:10"));
  EXPECT_TRUE(is_generator("nonsense:10"));
  EXPECT_FALSE(is_generator("matrix.mtx"));
  EXPECT_FALSE(is_generator("./poisson3d:10"));
  EXPECT_FALSE(is_generator(":10"));
  EXPECT_FALSE(is_generator("C:\\matrix.mtx"));
  EXPECT_EQ(load("poisson1d:4").a.nnz(), 10);
  EXPECT_EQ(load_header("poisson1d:4").shape, (shape2{4, 4}));
  for (const auto& g : generators()) EXPECT_TRUE(is_generator(g.example)) << g.example;
}

} // namespace
} // namespace furrow
