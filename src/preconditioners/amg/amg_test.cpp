// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioners/amg/aggregates.hpp"
#include "preconditioners/amg/amg_test_kit.hpp"
#include "preconditioners/amg/by_diagonals.hpp"
#include "preconditioners/amg/chebyshev.hpp"
#include "preconditioners/amg/dense.hpp"
#include "preconditioners/amg/diagonal.hpp"
#include "preconditioners/amg/prolongation.hpp"
#include "preconditioners/amg/setup.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/generate.hpp>

#include "kit/conductances.hpp"
#include "kit/cycle_check.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/solve_check.hpp"

#include <cstring>
#include <numbers>
#include <set>

namespace furrow::amg {
namespace {

struct coarsening {
  row_matrix<double> a;
  node_matrix m;
  strong_graph graph;
  host_array<std::uint8_t> root;
  aggregates found;

  explicit coarsening(const coo<double>& matrix, double theta = 0.08, int block = 1)
      : a(rows_of(matrix)), m{a.view(), block}, graph(strong_couplings(m, theta)),
        root(independent_at_distance_two(graph)), found(aggregates_of(graph, root)) {}

  std::set<index_t> within_two(index_t i) const {
    std::set<index_t> near{i};
    for (int step = 0; step < 2; ++step)
      for (const index_t j : std::set<index_t>(near))
        near.insert(graph.to.data() + graph.first[j], graph.to.data() + graph.first[j + 1]);
    return near;
  }
};

/// The same matrix with its rows and columns in any order.
coo<double> jumbled(const coo<double>& a) {
  kit::splitmix random(9);
  std::vector<index_t> place(static_cast<std::size_t>(a.shape.rows));
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto other = static_cast<std::size_t>(random.below(static_cast<index_t>(i) + 1));
    place[i] = place[other];
    place[other] = static_cast<index_t>(i);
  }
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < a.nnz(); ++k) entries.push_back({place[a.row[k]], place[a.col[k]], a.val[k]});
  return kit::assemble(a.shape, std::move(entries));
}

TEST(amg_aggregates, have_roots_that_are_more_than_two_steps_apart_and_as_many_as_fit) {
  for (const auto& a : {kit::laplacian(23, 19), kit::laplacian(9, 8, 7), kit::jumps(20, 20), kit::laplacian(200)}) {
    const coarsening c(a);
    for (index_t i = 0; i < c.graph.nodes(); ++i) {
      if (c.graph.alone(i)) {
        EXPECT_FALSE(c.root[i]);
        continue;
      }
      index_t roots = 0;
      for (const index_t j : c.within_two(i)) roots += c.root[j];
      if (c.root[i]) {
        ASSERT_EQ(roots, 1) << i;
      } else {
        ASSERT_GE(roots, 1) << i;
      }
    }
  }
}

TEST(amg_aggregates, are_a_partition_of_the_coupled_nodes_and_connected) {
  for (const auto& a : {kit::laplacian(23, 19), kit::laplacian(9, 8, 7), kit::jumps(20, 20)}) {
    const coarsening c(a);
    std::vector<index_t> first(static_cast<std::size_t>(c.found.count), -1);
    for (index_t i = 0; i < c.graph.nodes(); ++i) {
      ASSERT_EQ(c.found.of[i] < 0, c.graph.alone(i)) << i;
      if (c.root[i]) first[c.found.of[i]] = i;
    }
    for (index_t i = 0; i < c.graph.nodes(); ++i) {
      if (c.found.of[i] < 0) continue;
      const index_t root = first[c.found.of[i]];
      ASSERT_GE(root, 0);
      bool touches = root == i;
      for (index_t k = c.graph.first[i]; k < c.graph.first[i + 1]; ++k)
        touches = touches || c.found.of[c.graph.to[k]] == c.found.of[i];
      EXPECT_TRUE(touches) << i;
    }
  }
}

TEST(amg_strength, leaves_a_laplacian_in_three_dimensions_its_couplings) {
  EXPECT_EQ(coarsening(kit::laplacian(8, 8, 8), 0.25).found.count, 0); // the trap: 1/6 < 0.25
  EXPECT_GT(coarsening(kit::laplacian(8, 8, 8)).found.count, 0);
}

TEST(amg_strength, of_blocks_is_the_same_for_any_size_of_numbers) {
  auto a = generate("elasticity3d:5").a;
  const coarsening usual(a, 0.08, 3);
  EXPECT_GT(usual.graph.to.size(), usual.graph.nodes());
  for (const double factor : {0x1p600, 0x1p-1000}) { // squares would be infinite, and 0
    auto scaled = a;
    for (double& v : scaled.val) v *= factor;
    const coarsening c(scaled, 0.08, 3);
    EXPECT_TRUE(std::ranges::equal(c.graph.to, usual.graph.to)) << factor;
    EXPECT_TRUE(std::ranges::equal(c.graph.weight, usual.graph.weight)) << factor;
  }
}

/// Each point of a box is coupled to all 26 around it, as by trilinear elements.
coo<double> box_of_27_points(index_t side) {
  std::vector<kit::triplet> entries;
  const index_t n = side * side * side;
  const auto at = [&](index_t i, int axis) {
    return axis == 0 ? i % side : axis == 1 ? i / side % side : i / side / side;
  };
  for (index_t i = 0; i < n; ++i)
    for (index_t step = 0; step < 27; ++step) {
      const index_t j = i + step % 3 - 1 + (step / 3 % 3 - 1) * side + (step / 9 - 1) * side * side;
      bool near = j >= 0 && j < n;
      for (int axis = 0; axis < 3 && near; ++axis) near = std::abs(at(i, axis) - at(j, axis)) <= 1;
      if (near) entries.push_back({i, j, i == j ? 26.0 : -1.0});
    }
  return kit::assemble({n, n}, std::move(entries));
}

row_matrix<double> prolongation_of(const coarsening& c) {
  const auto inverse = inverse_diagonal(c.m);
  return smoothed_prolongation(c.m, c.graph, c.found, inverse, 4 / (3 * largest_eigenvalue(c.m, inverse)));
}

TEST(amg_prolongation, reproduces_constants_where_rows_of_a_add_up_to_zero) {
  for (const auto& a : {kit::laplacian(30, 30, 1, true), kit::laplacian(40, 40), kit::jumps(30, 30)}) {
    const coarsening c(a);
    const auto p = prolongation_of(c);
    index_t seen = 0;
    for (index_t i = 0; i < p.shape.rows; ++i) {
      double sum_a = 0, size_a = 0, sum = 0;
      bool coupled = true;
      for (index_t k = c.a.row_ptr[i]; k < c.a.row_ptr[i + 1]; ++k) {
        sum_a += c.a.val[k], size_a += std::abs(c.a.val[k]);
        coupled = coupled && (c.found.of[c.a.col[k]] >= 0 || c.a.val[k] == 0);
      }
      for (index_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) sum += p.val[k];
      if (c.found.of[i] < 0) {
        EXPECT_EQ(p.row_ptr[i], p.row_ptr[i + 1]) << i;
      } else if (coupled && std::abs(sum_a) <= 1e-14 * size_a) {
        EXPECT_NEAR(sum, 1, 1e-12) << i;
        ++seen;
      }
    }
    EXPECT_GT(seen, p.shape.rows / 2);
  }
}

TEST(amg_prolongation, is_its_formula_where_all_couplings_are_strong) {
  constexpr double omega = 2.0 / 3;
  const coarsening c(kit::laplacian(12, 11, 3));
  const auto p = smoothed_prolongation(c.m, c.graph, c.found, inverse_diagonal(c.m), omega);
  for (index_t i = 0; i < c.a.shape.rows; ++i) {
    std::vector<double> wanted(static_cast<std::size_t>(c.found.count)), got(wanted);
    wanted[c.found.of[i]] = 1;
    for (index_t k = c.a.row_ptr[i]; k < c.a.row_ptr[i + 1]; ++k)
      wanted[c.found.of[c.a.col[k]]] -= omega * c.a.val[k] / 6;
    for (index_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) got[p.col[k]] = p.val[k];
    for (index_t j = 0; j < c.found.count; ++j) ASSERT_NEAR(got[j], wanted[j], 1e-15) << i << ' ' << j;
  }
}

TEST(amg_prolongation, gives_each_unknown_of_a_node_its_own_constant) {
  const auto one = kit::jumps(20, 20); // with weak couplings and nodes alone
  std::vector<kit::triplet> entries;   // two independent copies, unknowns of a node side by side
  for (index_t k = 0; k < one.nnz(); ++k)
    for (index_t q = 0; q < 2; ++q) entries.push_back({2 * one.row[k] + q, 2 * one.col[k] + q, one.val[k]});
  const coarsening single(one),
      twice(kit::assemble({2 * one.shape.rows, 2 * one.shape.cols}, std::move(entries)), 0.08, 2);
  const auto p = smoothed_prolongation(single.m, single.graph, single.found, inverse_diagonal(single.m), 0.6);
  const auto q = smoothed_prolongation(twice.m, twice.graph, twice.found, inverse_diagonal(twice.m), 0.6);
  ASSERT_EQ(q.nnz(), 2 * p.nnz());
  for (index_t i = 0; i < q.shape.rows; ++i)
    for (index_t k = q.row_ptr[i], l = p.row_ptr[i / 2]; k < q.row_ptr[i + 1]; ++k, ++l) {
      ASSERT_EQ(q.col[k], 2 * p.col[l] + i % 2) << i;
      ASSERT_NEAR(q.val[k], p.val[l], 1e-14) << i;
    }
}

TEST(amg_prolongation, keeps_rows_whole_whose_diagonal_lumping_would_take) {
  // Row 0 has many weak positive couplings' worth of negative weight: lumped, its diagonal would be 0.1.
  std::vector<kit::triplet> e;
  for (index_t i = 0; i < 40; ++i) e.push_back({i, i, 1.0});
  for (index_t j = 1; j < 19; ++j) e.push_back({0, j, -0.05}), e.push_back({j, 0, -0.05});
  for (index_t j = 1; j + 1 < 40; ++j) e.push_back({j, j + 1, -0.4}), e.push_back({j + 1, j, -0.4});
  e.push_back({0, 39, -0.1}), e.push_back({39, 0, -0.1});
  const coarsening c(kit::assemble({40, 40}, std::move(e)));
  const auto p = prolongation_of(c);
  for (const double v : p.val) EXPECT_TRUE(std::isfinite(v) && std::abs(v) < 2) << v;
  EXPECT_GT(p.row_ptr[1] - p.row_ptr[0], 2); // whole: it reaches the aggregates of its weak neighbours
}

TEST(amg_smoother, has_the_polynomials_of_its_table) {
  for (int degree = 1; degree <= 5; ++degree) {
    constexpr std::array sup{1.0 / 3, 0.105573, 0.052095, 0.031091, 0.020672, 0.014743};
    double worst = 0;
    for (int s = 1; s <= 20000; ++s) {
      const double t = s / 20000.0;
      double x = 0, r = 1, z = chebyshev::first;
      for (int i = 1;; ++i) {
        x += chebyshev::beta(degree, i) * z;
        if (i == degree) break;
        r -= t * z;
        z = chebyshev::keep(i + 1) * z + chebyshev::gain(i + 1) * r;
      }
      const double p = 1 - t * x;
      ASSERT_LT(std::abs(p), 1) << t;
      worst = std::max(worst, t * p * p / (1 - p * p));
    }
    EXPECT_NEAR(worst, sup[degree - 1], 1e-5) << degree;
  }
}

TEST(amg_eigenvalue, is_bounded_and_not_missed) {
  const auto a = rows_of(kit::laplacian(30, 30));
  const node_matrix m{a.view(), 1};
  const double truth = 1 + std::cos(std::numbers::pi / 31), got = largest_eigenvalue(m, inverse_diagonal(m));
  EXPECT_GE(got, truth * (1 - 1e-12));
  EXPECT_LE(got, 2 * (1 + 1e-12));
}

TEST(amg_eigenvalue, of_blocks_is_between_the_largest_and_the_number_of_blocks) {
  const auto a = rows_of(generate("elasticity3d:6").a);
  const node_matrix m{a.view(), 3};
  const auto inverse = inverse_diagonal(m);
  const double got = largest_eigenvalue(m, inverse);
  // Power iteration in D's inner product stays below the largest eigenvalue.
  const index_t n = a.shape.rows;
  auto x = kit::random_vector<double>(n, 5);
  host_array<double> y(n), z(n);
  double below = 0;
  for (int step = 0; step < 300; ++step) {
    double norm = 0;
    for (index_t i = 0; i < n; ++i) norm = std::max(norm, std::abs(x[i]));
    for (double& v : x) v /= norm;
    for (index_t i = 0; i < n; ++i) {
      y[i] = 0;
      for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) y[i] += a.val[k] * x[a.col[k]];
    }
    times_inverse(inverse.data(), 3, index_t(0), n, y.data(), z.data());
    double top = 0, bottom = 0;
    for (index_t i = 0; i < n; ++i) top += y[i] * z[i], bottom += y[i] * x[i];
    below = top / bottom;
    x = z;
  }
  EXPECT_GE(got, below * (1 - 1e-6));
  EXPECT_LE(got, 1.15 * below);
}

TEST(amg_dense, inverts_and_finds_a_null_space) {
  const auto regular = rows_of(kit::laplacian(12, 11));
  const auto inverse = dense_inverse(regular.view());
  ASSERT_TRUE(inverse);
  const index_t n = 132;
  expect_inverse(regular, *inverse, 1e-12);
  const auto singular = rows_of(kit::laplacian(12, 11, 1, true)); // constants are its null space
  const auto pseudo = dense_inverse(singular.view());
  ASSERT_TRUE(pseudo);
  for (index_t i = 0; i < n; ++i) {
    double row = 0, product = 0;
    for (index_t j = 0; j < n; ++j) row += (*pseudo)[i * n + j];
    EXPECT_NEAR(row, 0, 1e-12);
    for (index_t k = singular.row_ptr[i]; k < singular.row_ptr[i + 1]; ++k)
      product += singular.val[k] * (*pseudo)[singular.col[k] * n + i];
    EXPECT_NEAR(product, 1 - 1.0 / n, 1e-12);
  }
  EXPECT_FALSE(dense_inverse(rows_of(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}})).view()));
}

TEST(amg_setup, finds_the_unknowns_of_a_node) {
  const auto unknowns = [](const coo<double>& a) {
    const auto rows = rows_of(a);
    return unknowns_of_a_node(rows.view(), as_cview(a.row));
  };
  EXPECT_EQ(unknowns(generate("elasticity3d:6").a), 3);
  EXPECT_EQ(unknowns(kit::laplacian(12, 12)), 1);
  EXPECT_EQ(unknowns(kit::laplacian(1000)), 1);
}

TEST(amg_setup, keeps_by_diagonals_what_that_makes_smaller) {
  for (const auto& a : {kit::laplacian(40, 30), kit::laplacian(900), kit::laplacian(9, 8, 70)}) {
    const auto rows = rows_of(a);
    const auto d = by_diagonals<float>(rows.view(), 0.5);
    ASSERT_GT(d.offset.size(), 2);
    EXPECT_LE(4.0 * double(d.val.size()), 0.8 * (8.0 * double(rows.nnz()) + 8.0 * double(rows.shape.rows)));
    index_t seen = 0;
    for (index_t at = 0; at < d.offset.size(); ++at)
      for (index_t i = 0; i < d.stride; ++i) {
        const float* const begin = d.val.data() + at * d.stride;
        const bool inside = i < rows.shape.rows && i + d.offset[at] >= 0 && i + d.offset[at] < rows.shape.cols;
        if (begin[i] != 0) {
          ASSERT_TRUE(inside);
          ++seen;
        }
      }
    EXPECT_EQ(seen, rows.nnz());
    for (index_t i = 0; i < rows.shape.rows; ++i)
      for (index_t k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k) {
        const auto at = std::ranges::find(d.offset, rows.col[k] - i) - d.offset.begin();
        ASSERT_EQ(d.val[at * d.stride + i], static_cast<float>(rows.val[k] * 0.5));
      }
  }
  EXPECT_TRUE(by_diagonals<float>(rows_of(jumbled(kit::laplacian(40, 30))).view(), 1).offset.empty());
}

TEST(amg_cycle, is_symmetric_positive_linear_and_the_same_for_every_number_of_threads) {
  for (const auto& a :
       {kit::laplacian(60, 60), kit::jumps(50, 50), generate("elasticity3d:8").a, kit::laplacian(13, 12, 11)})
    kit::expect_symmetric_positive("amg:sa", a);
}

TEST(amg_cycle, reduces_an_error_by_itself) {
  const auto a = kit::laplacian(32, 32, 32);
  const auto factor = [&](const char* name) { // of the error in the norm of A, at last, from b = 0
    const auto m = make_preconditioner<double>(name, a, device{}, cg_needs);
    auto x = kit::random_vector<double>(a.shape.rows, 1);
    double before = 0, ratio = 1;
    for (int step = 0; step < 15; ++step) {
      const auto r = kit::times(a, x);
      const double size = std::sqrt(kit::dot(x, r));
      ratio = size / before;
      before = size;
      const auto z = kit::applied(*m, r);
      for (index_t i = 0; i < x.size(); ++i) x[i] -= z[i];
    }
    return ratio;
  };
  EXPECT_LT(factor("amg:sa:1"), 0.68);
  EXPECT_LT(factor("amg:sa"), 0.50);
  EXPECT_LT(factor("amg:sa:3"), 0.45);
}

template <class V> index_t iterations(const coo<double>& a, const char* precond, double rtol = 1e-8) {
  solve_options o;
  o.precond = precond;
  o.rtol = rtol;
  o.where = device{};
  const host_array<V> ones(a.shape.rows, V(1));
  const auto [report, x] = kit::solve_honestly<V>(a, kit::times(a, ones), o);
  EXPECT_EQ(report.why, status::converged) << precond << ": " << report.message;
  return report.iterations;
}

TEST(amg, takes_few_iterations_whatever_the_size) {
  EXPECT_LE(iterations<double>(kit::laplacian(24, 24, 24), "amg:sa"), 12);
  EXPECT_LE(iterations<double>(kit::laplacian(40, 40, 40), "amg:sa"), 13);
  EXPECT_LE(iterations<double>(jumbled(kit::laplacian(40, 40, 40)), "amg:sa"), 13);
  EXPECT_LE(iterations<double>(kit::laplacian(200, 200), "amg:sa"), 15);
  EXPECT_LE(iterations<float>(kit::laplacian(24, 24, 24), "amg:sa", 1e-5), 10);
  EXPECT_LE(iterations<double>(box_of_27_points(16), "amg:sa"), 10); // couplings of 1/26 are strong there
  const auto elastic = generate("elasticity3d:10").a;
  EXPECT_LE(3 * iterations<double>(elastic, "amg:sa"), iterations<double>(elastic, "jacobi"));
  EXPECT_LE(5 * iterations<double>(kit::jumps(60, 60), "amg:sa"), iterations<double>(kit::jumps(60, 60), "jacobi"));
}

TEST(amg, solves_singular_consistent_systems) {
  const auto a = kit::laplacian(40, 40, 1, true); // A * ones is 0 to rounding: another b
  auto x = kit::random_vector<double>(1600, 4);
  const auto b = kit::times(a, x);
  solve_options o;
  o.precond = "amg:sa";
  EXPECT_EQ(kit::solve_honestly<double>(a, b, o).report.why, status::converged);
}

TEST(amg, takes_rows_of_any_size) {
  const auto plain = kit::laplacian(40, 40);
  auto a = plain;
  for (index_t k = 0; k < a.nnz(); ++k) // D A D with D from 1e-10 to 1e10
    a.val[k] *= std::pow(10.0, double(a.row[k] % 21) - 10) * std::pow(10.0, double(a.col[k] % 21) - 10);
  const auto m = make_preconditioner<double>("amg:sa", a, device{}, cg_needs);
  for (const double v : kit::applied(*m, kit::random_vector<double>(1600, 2))) ASSERT_TRUE(std::isfinite(v));
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] = plain.val[k] * 1e-200;
  EXPECT_LE(iterations<double>(a, "amg:sa"), 15);
}

TEST(amg, is_refused_where_it_would_not_be_what_is_needed) {
  const auto why = [](const coo<double>& a, solver_needs needs) {
    return kit::refused_by([&] { make_preconditioner<double>("amg:sa", a, device{}, needs); }).why;
  };
  EXPECT_EQ(why(kit::diagonal({1, -2}), cg_needs), status::not_positive_definite);
  EXPECT_EQ(why(kit::diagonal({1, 0}), {}), status::breakdown);
  EXPECT_EQ(why(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}}), cg_needs),
            status::not_positive_definite);
  for (const char* name : {"amg:magic", "amg:sa:0", "amg:sa:7", "amg:sa:2:1"})
    EXPECT_THROW(make_preconditioner<double>(name, kit::laplacian(5), device{}, cg_needs), error) << name;
}

TEST(amg, is_the_inverse_of_a_small_matrix_also_of_a_bad_one) {
  const auto hilbert = kit::from_function(9, [](index_t i, index_t j) { return 1 / double(i + j + 1); });
  EXPECT_LE(iterations<double>(hilbert, "amg:sa"), 2); // in single precision its inverse would be indefinite
}

TEST(amg, says_its_levels) {
  const auto m = make_preconditioner<double>("amg:sa", kit::laplacian(40, 40), device{}, cg_needs);
  const auto levels = m->levels();
  ASSERT_EQ(levels.size(), 2);
  EXPECT_EQ(levels[0].rows, 1600);
  EXPECT_EQ(levels[0].entries, 7840);
  EXPECT_LT(levels[1].rows, 400);
  EXPECT_GT(levels[1].entries, levels[1].rows);
  double bytes = 0;
  for (const multigrid_level& l : levels) {
    EXPECT_GT(l.seconds, 0);
    bytes += l.bytes;
  }
  EXPECT_EQ(m->stored_bytes(), bytes);
  EXPECT_GT(levels[0].bytes, 8 * 7840);
  EXPECT_NE(m->describe().find("amg:sa:2: 2 levels, "), std::string::npos) << m->describe();
  const auto box = make_preconditioner<double>("amg:sa", box_of_27_points(16), device{}, cg_needs);
  EXPECT_EQ(box->levels().size(), 2);
}

} // namespace
} // namespace furrow::amg
