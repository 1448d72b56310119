// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioners/amg/amg_test_kit.hpp"
#include "preconditioners/amg/renewal.hpp"
#include "preconditioners/amg/setup.hpp"
#include "preconditioners/new_values.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include "kit/conductances.hpp"
#include "kit/cycle_check.hpp"
#include "kit/guarded.hpp"
#include "kit/solve_check.hpp"

namespace furrow::amg {
namespace {

constexpr solver_needs flexible_cg_needs{.a = {true, true}, .m = {true, true}, .flexible = true};

/// D A D with D between 1 and `most`, so that symmetry and definiteness stay.
coo<double> scaled(coo<double> a, double most) {
  const auto d = [&](index_t i) { return 1 + (most - 1) * double(i * 7 % 11) / 10; };
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= d(a.row[k]) * d(a.col[k]);
  return a;
}
/// Conductances of 1 to 1 + change between points of a grid.
coo<double> conducting(index_t nx, index_t ny, index_t nz, double change, double along_y = 1) {
  return kit::conducting(nx, ny, nz, [&](index_t i, index_t j) {
    return (1 + change * double((i * 13 + j * 5) % 17) / 16) * (j - i == nx ? along_y : 1);
  });
}

template <class T> bool same_bits(const host_array<T>& x, const host_array<T>& y) {
  return kit::same_bits(as_cview(x), as_cview(y));
}
/// All numbers of a level but lambda and what follows from it.
template <class W> bool same_level(const level<W>& a, const level<W>& b) {
  return same_bits(a.a.val, b.a.val) && same_bits(a.diagonals.val, b.diagonals.val) && same_bits(a.p.val, b.p.val) &&
         same_bits(a.r.val, b.r.val) && same_bits(a.inverse, b.inverse);
}

index_t iterations(any_preconditioner<double>& m, const coo<double>& a) {
  const auto op = find_format("csr").cpu.make<double>()(coo<double>(a), {}, "auto");
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  host_array<double> x(a.shape.rows, 0.0);
  solve_options o;
  o.solver = "cg";
  const auto report = solver<double>(*op, &m, o).solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::converged) << report.message;
  const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
  EXPECT_LE(truth.norm, 1e-8L * truth.norm_b * 1.01L + truth.rounding);
  return report.iterations;
}

template <class W> void expect_same_numbers(const coo<double>& matrix, int block) {
  SCOPED_TRACE(std::to_string(matrix.shape.rows) + " rows");
  const auto a = rows_of(matrix), other = rows_of(scaled(matrix, 1.3));
  using renews = aggregation_renewal<W>;
  renews r(renews::kind::smoothed, block);
  auto h = smoothed_aggregation<W>(a.view(), block);
  ASSERT_EQ(r.renew(a.view(), h), renews::outcome::remade);
  const auto first = h;
  ASSERT_GT(first.levels.size(), 1);
  ASSERT_EQ(r.renew(other.view(), h), renews::outcome::renewed);
  EXPECT_FALSE(same_level(h.levels[0], first.levels[0]));
  const W* const where = h.levels[0].p.val.data();
  ASSERT_EQ(r.renew(a.view(), h), renews::outcome::renewed);
  EXPECT_EQ(h.levels[0].p.val.data(), where); // in place
  for (std::size_t k = 0; k < h.levels.size(); ++k) {
    EXPECT_NEAR(h.levels[k].lambda, first.levels[k].lambda, 0.05 * first.levels[k].lambda) << k;
    if (h.levels[k].lambda != first.levels[k].lambda) break; // P follows from it
    EXPECT_TRUE(same_level(h.levels[k], first.levels[k])) << k;
  }
}

TEST(amg_renewal, makes_the_numbers_that_a_set_up_makes) {
  expect_same_numbers<double>(kit::laplacian(40, 50), 1);
  expect_same_numbers<float>(kit::laplacian(13, 12, 14), 1);
  expect_same_numbers<double>(conducting(40, 50, 1, 3, 0.01), 1); // with weak couplings
  expect_same_numbers<double>(generate("elasticity3d:8").a, 3);
}

TEST(amg_renewal, converges_as_a_new_one_on_matrices_that_follow_each_other) {
  for (const char* const name : {"amg:sa", "amg:sa:3"}) {
    auto m = make_preconditioner<double>(name, conducting(60, 50, 1, 0), device{}, flexible_cg_needs);
    auto* const kept = dynamic_cast<takes_new_values<double>*>(m.get());
    ASSERT_NE(kept, nullptr);
    for (int step = 1; step <= 5; ++step) {
      const auto a = conducting(60, 50, 1, 0.5 * step);
      ASSERT_TRUE(kept->update(a, flexible_cg_needs)) << name << step;
      auto fresh = make_preconditioner<double>(name, a, device{}, flexible_cg_needs);
      EXPECT_LE(iterations(*m, a), iterations(*fresh, a) + 1) << name << step;
      EXPECT_EQ(m->describe(), fresh->describe());
    }
  }
  const auto elastic = generate("elasticity3d:8").a;
  auto m = make_preconditioner<double>("amg:sa", elastic, device{}, flexible_cg_needs);
  for (const double most : {1.0, 1.5, 2.0, 1.1}) {
    const auto a = scaled(elastic, most);
    ASSERT_TRUE(dynamic_cast<takes_new_values<double>&>(*m).update(a, flexible_cg_needs));
    EXPECT_LE(iterations(*m, a),
              iterations(*make_preconditioner<double>("amg:sa", a, device{}, flexible_cg_needs), a) + 2);
  }
}

TEST(amg_renewal, has_the_same_bits_for_every_number_of_threads) {
  const auto a = conducting(31, 20, 9, 0), b = conducting(31, 20, 9, 2);
  const auto r = kit::random_vector<double>(a.shape.rows, 1);
  for (const char* const name : {"amg:sa", "amg:pairwise"}) {
    host_array<double> first;
    for (const int threads : {1, 2, 5}) {
      set_threads(threads);
      auto m = make_preconditioner<double>(name, a, device{}, flexible_cg_needs);
      for (int k = 0; k < 3; ++k)
        ASSERT_TRUE(dynamic_cast<takes_new_values<double>&>(*m).update(k == 1 ? a : b, flexible_cg_needs));
      const auto z = kit::applied(*m, r);
      if (first.empty()) first = z;
      EXPECT_TRUE(same_bits(z, first)) << name << ' ' << threads;
    }
    set_threads(0);
  }
}

TEST(amg_renewal, finds_new_aggregates_where_the_couplings_have_turned) {
  const auto across = rows_of(conducting(50, 50, 1, 0, 1e-3)), along = rows_of(conducting(50, 50, 1, 0, 1e3));
  using renews = aggregation_renewal<float>;
  renews r(renews::kind::smoothed, 1);
  auto h = smoothed_aggregation<float>(across.view(), 1);
  ASSERT_EQ(r.renew(across.view(), h), renews::outcome::remade);
  ASSERT_EQ(r.renew(across.view(), h), renews::outcome::renewed);
  EXPECT_EQ(r.renew(along.view(), h), renews::outcome::remade);
  const auto fresh = smoothed_aggregation<float>(along.view(), 1);
  ASSERT_EQ(h.levels.size(), fresh.levels.size());
  EXPECT_TRUE(std::ranges::equal(h.levels[0].p.col, fresh.levels[0].p.col));
  EXPECT_EQ(r.renew(along.view(), h), renews::outcome::renewed);
}

TEST(amg_renewal, is_no_other_matrix) {
  for (const char* const name : {"amg:sa", "amg:pairwise"}) {
    auto m = make_preconditioner<double>(name, kit::laplacian(40, 30), device{}, flexible_cg_needs);
    auto& kept = dynamic_cast<takes_new_values<double>&>(*m);
    EXPECT_TRUE(kept.update(kit::laplacian(40, 30), flexible_cg_needs)) << name;
    EXPECT_TRUE(kept.update(kit::laplacian(40, 30), flexible_cg_needs)) << name;
    EXPECT_FALSE(kept.update(kit::laplacian(30, 40), flexible_cg_needs)) << name; // as many rows, other places
    EXPECT_FALSE(kept.update(kit::laplacian(40, 31), flexible_cg_needs)) << name;
  }
}

TEST(amg_renewal, of_a_grid_is_a_set_up) {
  auto m = make_preconditioner<double>("amg:grid", kit::laplacian(40, 30), device{}, flexible_cg_needs);
  EXPECT_FALSE(dynamic_cast<takes_new_values<double>&>(*m).update(kit::laplacian(40, 30), flexible_cg_needs));
}

TEST(amg_renewal, refuses_what_a_set_up_refuses) {
  auto m = make_preconditioner<double>("amg:sa", kit::laplacian(40, 30), device{}, flexible_cg_needs);
  auto& kept = dynamic_cast<takes_new_values<double>&>(*m);
  ASSERT_TRUE(kept.update(kit::laplacian(40, 30), flexible_cg_needs));
  auto bad = kit::laplacian(40, 30);
  for (index_t k = 0; k < bad.nnz(); ++k)
    if (bad.row[k] == 7 && bad.col[k] == 7) bad.val[k] = -4;
  EXPECT_THROW(kept.update(bad, flexible_cg_needs), refusal);
  auto span = kit::laplacian(40, 30); // levels in double now: another kind of hierarchy
  for (index_t k = 0; k < span.nnz(); ++k)
    if (span.row[k] == 7 && span.col[k] == 7) span.val[k] = 1e40;
  EXPECT_FALSE(kept.update(span, flexible_cg_needs));
}

TEST(amg_spectrum, is_followed_from_one_matrix_to_the_next) {
  for (const int block : {1, 3}) {
    const auto a = block == 3 ? generate("elasticity3d:7").a : conducting(30, 30, 1, 5, 30);
    const auto first = rows_of(a), second = rows_of(scaled(a, 1.05));
    auto jumped = a;
    for (index_t k = 0; k < a.nnz(); ++k) // one node far from the others' ratio of diagonal and couplings
      if (a.row[k] != a.col[k] && (a.row[k] / block == 100 || a.col[k] / block == 100)) jumped.val[k] *= 1.5;
    const auto third = rows_of(jumped);
    top_of_spectrum top;
    for (const auto* rows : {&first, &second, &first, &third}) {
      const node_matrix m{rows->view(), block};
      const auto inverse = inverse_diagonal(m);
      follow_top(top, m, inverse);
      EXPECT_NEAR(top.bound, largest_eigenvalue(m, inverse), 0.06 * top.bound) << block;
    }
  }
}

} // namespace
} // namespace furrow::amg
