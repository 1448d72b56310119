// SPDX-License-Identifier: BSD-3-Clause
// Vectors of the caller that lie on the GPU: kept matrices and solvers take them there.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/function_operator.hpp>
#include <furrow/gemv.hpp>
#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace furrow {
namespace {

template <class V> struct gpu_vectors : on_gpu_in<V> {
  const coo<V> a = kit::as_precision<V>(kit::laplacian(70, 60));
  const index_t n = 4200;

  solve_options options(std::string method = "cg") const {
    solve_options o;
    o.where = this->gpu, o.solver = std::move(method), o.precond = "jacobi", o.format = "csr";
    o.rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;
    return o;
  }
};
TYPED_TEST_SUITE(gpu_vectors, precisions);

template <class F> std::string sentence(F f) { return kit::said_by(fault::usage, f); }

TYPED_TEST(gpu_vectors, have_the_bits_of_vectors_on_the_host) {
  using V = TypeParam;
  for (const char* method : {"cg", "bicgstab", "gmres:20", "minres"}) {
    solver<V> kept(this->a, this->options(method));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto b = kit::random_vector<V>(this->n, seed), guess = kit::random_vector<V>(this->n, 10 + seed);
      host_array<V> x = guess;
      const auto here = kept.solve(as_cview(b), as_view(x));
      const gpu_array<V> there_b(b);
      gpu_array<V> there_x(guess);
      const auto there = kept.solve(as_cview(there_b), as_view(there_x));
      EXPECT_EQ(there.why, here.why) << method << ": " << there.message;
      EXPECT_EQ(there.history, here.history) << method;
      EXPECT_EQ(there.stored_bytes, here.stored_bytes);
      EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_x)), as_cview(x))) << method;
      EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_b)), as_cview(b))) << method;
    }
  }
}

/// Seen by a copy that does not follow our stream, of x that went through the host and is small.
TYPED_TEST(gpu_vectors, are_there_when_solve_returns) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 30));
  const auto b = kit::random_vector<V>(900, 1);
  for (const double scale : {1.0, 0.0}) {
    host_array<V> scaled(b);
    for (V& v : scaled) v *= V(scale);
    solve_options o = this->options("auto");
    o.precond = "auto", o.format = "auto";
    solver<V> kept(a, o);
    host_array<V> here(900, V(7));
    EXPECT_EQ(kept.solve(as_cview(scaled), as_view(here)).why, status::converged);
    for (int turn = 0; turn < 5; ++turn) {
      const gpu_array<V> there_b(scaled);
      gpu_array<V> there(host_array<V>(900, V(7)));
      EXPECT_EQ(kept.solve(as_cview(there_b), as_view(there)).why, status::converged);
      host_array<V> home(900);
      ASSERT_EQ(cudaMemcpy(home.data(), there.data(), home.byte_count(), cudaMemcpyDeviceToHost), cudaSuccess);
      EXPECT_TRUE(kit::same_bits(as_cview(home), as_cview(here))) << scale << ' ' << turn;
    }
  }
}

/// What the host would find of a system that failed is found of vectors there, too.
TYPED_TEST(gpu_vectors, of_a_system_that_fails_have_the_cause_of_those_on_the_host) {
  using V = TypeParam;
  auto a = this->a;
  for (V& v : a.val) v *= V(sizeof(V) == 8 ? 1e-180 : 1e-35);
  solve_options o = this->options("cr");
  o.precond = "none";
  solver<V> kept(a, o);
  const auto b = kit::random_vector<V>(this->n, 1);
  host_array<V> x(this->n, V(0));
  const auto here = kept.solve(as_cview(b), as_view(x));
  const gpu_array<V> there_b(b);
  gpu_array<V> there_x(host_array<V>(this->n, V(0)));
  const auto there = kept.solve(as_cview(there_b), as_view(there_x));
  EXPECT_EQ(here.message.find("squares") != std::string::npos, sizeof(V) == 8) << here.message; // of floats in double
  EXPECT_EQ(there.message, here.message);
}

TYPED_TEST(gpu_vectors, that_lie_elsewhere_are_refused_by_a_sentence) {
  using V = TypeParam;
  const gpu_array<std::int32_t> there_ptr(3, 0);
  const gpu_array<V> there(4, V(1));
  const host_array<V> here(4, V(1));
  host_array<V> y(2, V(0));
  gpu_array<V> there_y(2, V(0));
  const csr_arrays<V, std::int32_t> rows{{2, 2}, as_cview(there_ptr), {there_ptr.data(), 3}, {there.data(), 3}, {}};
  EXPECT_NE(sentence([&] { (void)to_coo(rows); }).find("row_ptr is on gpu:0"), std::string::npos);
  gemv_options o;
  const auto multiply = [&](const V* a, const V* from, V* to) {
    return sentence([&] { gemv<V>(V(1), dense_view<V>{a, {2, 2}, 2}, {from, 2}, V(0), {to, 2}, o); });
  };
  EXPECT_NE(multiply(there.data(), here.data(), y.data()).find("A lies in the memory of a GPU"), std::string::npos);
  o.where = this->gpu;
  EXPECT_NE(multiply(here.data(), there.data(), there_y.data()).find("A lies in host memory"), std::string::npos);
  EXPECT_NE(multiply(there.data(), there.data(), y.data()).find("y lies in host memory"), std::string::npos);
}

TYPED_TEST(gpu_vectors, do_not_pass_the_host) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(500, 400));
  const index_t n = a.shape.rows;
  const std::int64_t bytes = n * std::int64_t(sizeof(V));
  auto o = this->options();
  o.max_iterations = 30; // what comes home are slots and residuals, 33 kB for every chunk of steps
  solver<V> kept(a, o);
  const auto home_b = kit::random_vector<V>(n, 1);
  host_array<V> home_x(n, V(0));
  const gpu_array<V> b(home_b);
  gpu_array<V> x(home_x);
  const auto moved_by = [&](auto call) {
    const std::int64_t before = copied_bytes(this->gpu);
    call();
    return copied_bytes(this->gpu) - before;
  };
  EXPECT_LT(moved_by([&] { kept.solve(as_cview(b), as_view(x)); }), bytes);
  EXPECT_GT(moved_by([&] { kept.solve(as_cview(home_b), as_view(home_x)); }), 3 * bytes); // b, x, and x again

  const matrix<V> m(a, {.format = "csr", .where = this->gpu});
  EXPECT_EQ(moved_by([&] { m.apply(1, as_cview(b), 0, as_view(x)); }), 0);
  EXPECT_EQ(moved_by([&] { m.apply(1, as_cview(home_b), 0, as_view(home_x)); }), 2 * bytes);
}

TYPED_TEST(gpu_vectors, that_are_not_plain_are_reported_as_on_the_host) {
  using V = TypeParam;
  solver<V> kept(this->a, this->options());
  for (const double odd : {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           sizeof(V) == 8 ? 1e-150 : 1e-30}) {
    host_array<V> b(this->n, V(odd == odd && odd < 1 ? odd : 1));
    b[7] = V(odd);
    host_array<V> x(this->n, V(0));
    const auto here = kept.solve(as_cview(b), as_view(x));
    const gpu_array<V> there_b(b);
    gpu_array<V> there_x(host_array<V>(this->n, V(0)));
    const auto there = kept.solve(as_cview(there_b), as_view(there_x));
    EXPECT_EQ(there.message, here.message);
    EXPECT_EQ(there.why, here.why);
    EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_x)), as_cview(x)));
  }
}

TYPED_TEST(gpu_vectors, serve_auto_and_systems_in_single_precision) {
  using V = TypeParam;
  auto o = this->options("auto");
  o.precond = "auto";
  for (const precision p : {precision::f64, precision::f32}) {
    o.values = sizeof(V) == 8 ? p : precision::f64;
    o.rtol = 1e-4;
    solver<V> kept(this->a, o);
    const auto b = kit::random_vector<V>(this->n, 3);
    host_array<V> x(this->n, V(0));
    (void)kept.solve(as_cview(b), as_view(x)); // the next ones begin with the method that answered
    std::fill(x.begin(), x.end(), V(0));
    const auto here = kept.solve(as_cview(b), as_view(x));
    const gpu_array<V> there_b(b);
    gpu_array<V> there_x(host_array<V>(this->n, V(0)));
    const auto there = kept.solve(as_cview(there_b), as_view(there_x));
    EXPECT_EQ(there.why, here.why) << there.message;
    EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_x)), as_cview(x)));
  }
}

TYPED_TEST(gpu_vectors, multiply_and_multiply_transposed_from_either_memory) {
  using V = TypeParam;
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < 3000; ++k) entries.push_back({k % 300, (k * k + 7 * k) % 500, 1.0 / double(k + 1)});
  const auto wide = kit::as_precision<V>(kit::assemble({300, 500}, entries));
  const matrix<V> m(wide, {.where = this->gpu});
  for (const bool transposed : {false, true}) {
    const auto x = kit::random_vector<V>(transposed ? 600 : 1000, 1),
               y = kit::random_vector<V>(transposed ? 1000 : 600, 2);
    const gpu_array<V> there_x(x);
    gpu_array<V> there_y(y);
    host_array<V> home_y = y;
    const auto apply = [&](cview<V> from, view<V> to) {
      if (transposed) m.apply_transposed(V(2), from, V(3), to, 2);
      else m.apply(V(2), from, V(3), to, 2);
    };
    apply(as_cview(there_x), as_view(there_y));
    apply(as_cview(x), as_view(home_y));
    EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_y)), as_cview(home_y))) << transposed;
    EXPECT_FALSE(kit::same_bits(as_cview(home_y), as_cview(y)));
  }
}

TYPED_TEST(gpu_vectors, serve_an_operator_of_the_caller) {
  using V = TypeParam;
  const matrix<V> m(this->a, {.format = "csr", .where = this->gpu});
  const function_operator<V> own(
      {this->n, this->n}, [&](cview<V> x, view<V> y) { m.apply(V(1), x, V(0), y); }, this->gpu);
  auto o = this->options();
  solver<V> kept(own, nullptr, o, {m.facts().norm_inf, m.facts().row_max});
  const auto b = kit::random_vector<V>(this->n, 3);
  host_array<V> x(this->n, V(0));
  const auto here = kept.solve(as_cview(b), as_view(x));
  const gpu_array<V> there_b(b);
  gpu_array<V> there_x(host_array<V>(this->n, V(0)));
  const auto there = kept.solve(as_cview(there_b), as_view(there_x));
  EXPECT_EQ(there.why, status::converged) << there.message;
  EXPECT_EQ(there.history, here.history);
  EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_x)), as_cview(x)));
}

TYPED_TEST(gpu_vectors, on_either_side_are_refused) {
  using V = TypeParam;
  solver<V> kept(this->a, this->options());
  const host_array<V> b(this->n, V(1));
  host_array<V> x(this->n, V(0));
  const gpu_array<V> there_b(b);
  gpu_array<V> there_x(x);
  EXPECT_EQ(sentence([&] { kept.solve(as_cview(there_b), as_view(x)); }),
            "b lies on gpu:0 and x in host memory: give both in one memory");
  EXPECT_EQ(sentence([&] { kept.solve(as_cview(b), as_view(there_x)); }),
            "x lies on gpu:0 and b in host memory: give both in one memory");
  auto o = this->options();
  o.where = {};
  solver<V> on_cpu(this->a, o);
  EXPECT_EQ(sentence([&] { on_cpu.solve(as_cview(there_b), as_view(there_x)); }),
            "b lies on gpu:0, but this runs on the CPU: give it in host memory");
  const matrix<V> m(this->a);
  EXPECT_EQ(sentence([&] { m.apply(1, as_cview(there_b), 0, as_view(there_x)); }),
            "x lies on gpu:0, but this runs on the CPU: give it in host memory");
  const matrix<V> on_gpu(this->a, {.where = this->gpu});
  EXPECT_EQ(sentence([&] { on_gpu.apply(1, as_cview(b), 0, as_view(there_x)); }),
            "y lies on gpu:0 and x in host memory: give both in one memory");
}

} // namespace
} // namespace furrow
