// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients cost what cg.hpp says: passes, waits and bytes of an iteration.
#include "cg.hpp"

#include "backends/cpu/space.hpp"
#include "kit/counting.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

struct run_cost {
  kit::traffic seen;
  solve_report report;
};

/// `iterations` steps on a matrix that needs more; `general` hides what the preconditioner is.
template <class V>
run_cost run_for(index_t iterations, const coo<double>& matrix, std::string_view precond, bool general = false) {
  run_cost cost;
  const auto a = kit::as_precision<V>(matrix);
  const stats s = measure(a);
  std::unique_ptr<any_preconditioner<V>> m = make_preconditioner<V>(precond, a, device{}, {{true, true}, {true, true}});
  if (general) m = std::make_unique<kit::general_preconditioner<V>>(std::move(m), cost.seen);
  const kit::counting_operator<V> op(find_format("csr").cpu.make<V>()(a, {}, "auto"), cost.seen);
  const auto b = kit::random_vector<V>(a.shape.rows, 3);
  host_array<V> x(a.shape.rows, V(0));
  cpu::space<V> inner;
  kit::counting_space<cpu::space<V>> space(inner, cost.seen);
  solve_options o;
  o.rtol = 1e-30;
  o.max_iterations = iterations;
  cost.report = run_in<cg_method>(space, {op, *m, as_cview(b), as_view(x), s.norm_inf, s.norm_inf, s.row_max}, o);
  EXPECT_EQ(cost.report.iterations, iterations);
  EXPECT_EQ(cost.report.why, status::max_iterations) << cost.report.message;
  return cost;
}

/// What an iteration costs.
template <class V> struct iteration_cost {
  double passes, bytes;
  index_t waits_inside;
  double promised_bytes;

  iteration_cost(const coo<double>& a, std::string_view precond, bool general = false) {
    const auto cost = run_for<V>(20, a, precond, general);
    passes = double(cost.seen.passes_inside_loops) / 20;
    bytes = cost.seen.bytes_inside_loops / 20;
    waits_inside = cost.seen.waits_inside_loops;
    promised_bytes = cost.report.bytes_per_iteration;
  }
};

template <class V> struct cg_cost : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cg_cost, precisions);

TYPED_TEST(cg_cost, three_passes_with_the_identity) {
  const iteration_cost<TypeParam> c(kit::laplacian(20, 20, 20), "none");
  EXPECT_EQ(c.passes, 3);
  EXPECT_EQ(c.waits_inside, 0);
  EXPECT_EQ(c.bytes, c.promised_bytes);
}

TYPED_TEST(cg_cost, three_passes_with_a_diagonal) {
  const iteration_cost<TypeParam> none(kit::laplacian(20, 20, 20), "none"), c(kit::laplacian(20, 20, 20), "jacobi");
  EXPECT_EQ(c.passes, 3);
  EXPECT_EQ(c.waits_inside, 0);
  EXPECT_EQ(c.bytes, c.promised_bytes);
  EXPECT_EQ(c.bytes - none.bytes, 2 * 8000 * sizeof(TypeParam)); // one vector more in each of two passes
}

TYPED_TEST(cg_cost, five_passes_with_any_other_preconditioner) {
  const iteration_cost<TypeParam> c(kit::laplacian(20, 20, 20), "jacobi", true);
  EXPECT_EQ(c.passes, 5);
  EXPECT_EQ(c.waits_inside, 0);
  EXPECT_EQ(c.bytes, c.promised_bytes);
}

TEST(cg_bytes, a_row_of_seven_points_in_double_precision) {
  const index_t n = 12 * 12 * 12;
  const auto a = kit::laplacian(12, 12, 12, true, 0.01);
  ASSERT_EQ(a.nnz(), 7 * n);
  // 7 entries of 12 bytes, an offset, x and y of the product: 104; r, q, r and x, p, r, x, p: 64; d twice: 16.
  EXPECT_EQ(iteration_cost<double>(a, "none").bytes, 168.0 * n + 4);
  EXPECT_EQ(iteration_cost<double>(a, "jacobi").bytes, 184.0 * n + 4);
}

TEST(cg_waits, grow_with_the_logarithm_of_the_iterations) {
  const auto a = kit::laplacian(64);
  // Chunks double as long as they take less than a twentieth of a second.
  const auto cost = run_for<double>(30, a, "none");
  EXPECT_EQ(cost.seen.waits, cost.report.waits);
  EXPECT_LE(cost.report.waits, 20);
}

/// Adds up what comes home.
struct weighing_space : cpu::space<double> {
  index_t fetched = 0;
  void fetch(cview<double> from, view<double> to) {
    fetched += from.size;
    cpu::space<double>::fetch(from, to);
  }
};

TEST(cg_fetches, scalars_alone_where_slots_are_at_hand) {
  const auto matrix = kit::laplacian(64);
  const stats s = measure(matrix);
  const auto op = find_format("csr").cpu.make<double>()(matrix, {}, "auto");
  const auto m = make_preconditioner<double>("none", matrix, device{}, {{true, true}, {true, true}});
  const auto b = kit::random_vector<double>(64, 3);
  host_array<double> x(64, 0.0);
  weighing_space space;
  const auto report =
      run_in<cg_method>(space, {*op, *m, as_cview(b), as_view(x), s.norm_inf, s.norm_inf, s.row_max}, solve_options{});
  EXPECT_EQ(report.why, status::converged) << report.message;
  EXPECT_GT(report.condition_estimate, 1) << "of the coefficients that rings keep";
  EXPECT_LE(space.fetched, 24 * report.waits) << "rings of thousands of numbers stay where they are";
}

} // namespace
} // namespace furrow
