// SPDX-License-Identifier: BSD-3-Clause
// Matrices and solvers on two GPUs of one process, by turns and by two threads at once.
#include "backends/gpu/queue.hpp"

#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace furrow {
namespace {

constexpr int repeats = 20;

template <class V> struct gpu_pair : on_gpu_in<V> {
  device second{device::kind::gpu, 1};

  void SetUp() override {
    on_gpu_in<V>::SetUp();
    if (this->IsSkipped()) return;
    if (inspect_gpus().gpus.size() < 2) GTEST_SKIP() << "one GPU, this needs two";
  }
};
TYPED_TEST_SUITE(gpu_pair, precisions);

/// A matrix, a solver and what they answered when they were alone.
template <class V> class set_up_on {
public:
  set_up_on(device where, const coo<V>& a, const std::string& format, const std::string& kernel, std::string precond)
      : where_(where), a_(a, {.format = format, .kernel = kernel, .where = where}), s_(a, options(where, precond)),
        x_(kit::random_vector<V>(a.shape.cols, 1)), b_(kit::random_vector<V>(a.shape.rows, 2)), y_(product()),
        t_(product(true)), u_(answer()) {}

  /// Whether all answers have the same bits again, from vectors on the host and on the GPU.
  bool repeats_itself() const {
    return kit::same_bits(as_cview(product()), as_cview(y_)) && kit::same_bits(as_cview(product(true)), as_cview(t_)) &&
           kit::same_bits(as_cview(answer()), as_cview(u_)) && there();
  }
  const host_array<V>& product_alone() const { return y_; }
  const host_array<V>& answer_alone() const { return u_; }

private:
  static solve_options options(device where, std::string precond) {
    solve_options o;
    o.where = where, o.solver = "cg", o.precond = std::move(precond), o.rtol = sizeof(V) == 8 ? 1e-8 : 1e-4;
    return o;
  }
  host_array<V> product(bool transposed = false) const {
    host_array<V> y(x_.size(), V(0));
    if (transposed) a_.apply_transposed(V(2), as_cview(x_), V(0), as_view(y));
    else a_.apply(V(2), as_cview(x_), V(0), as_view(y));
    return y;
  }
  host_array<V> answer() const {
    host_array<V> u(b_.size(), V(0));
    EXPECT_EQ(s_.solve(as_cview(b_), as_view(u)).why, status::converged);
    return u;
  }
  bool there() const {
    select_device(where_);
    const gpu_array<V> x(x_), b(b_);
    gpu_array<V> y(x_.size()), u(host_array<V>(b_.size(), V(0)));
    a_.apply(V(2), as_cview(x), V(0), as_view(y));
    s_.solve(as_cview(b), as_view(u));
    return kit::same_bits(as_cview(host_array<V>(y)), as_cview(y_)) &&
           kit::same_bits(as_cview(host_array<V>(u)), as_cview(u_));
  }

  device where_;
  matrix<V> a_;
  mutable solver<V> s_;
  host_array<V> x_, b_, y_, t_, u_;
};

TYPED_TEST(gpu_pair, answers_by_turns_and_from_two_threads) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(120, 90));
  const auto found = inspect_gpus().gpus;
  const struct {
    const char *format, *kernel, *precond;
  } cases[] = {{"csr", "merge", "jacobi"}, {"csr", "auto", "ic0"},         {"sell", "auto", "none"},
               {"coo", "auto", "jacobi"},  {"hyb", "auto", "chebyshev:3"}, {"dia", "auto", "fsai"}};
  for (const auto& [format, kernel, precond] : cases) {
    SCOPED_TRACE(std::string(format) + " " + kernel + ", " + precond);
    const set_up_on<V> one(this->gpu, a, format, kernel, precond), other(this->second, a, format, kernel, precond);
    if (found[0].name == found[1].name) {
      EXPECT_TRUE(kit::same_bits(as_cview(one.product_alone()), as_cview(other.product_alone())));
      EXPECT_TRUE(kit::same_bits(as_cview(one.answer_alone()), as_cview(other.answer_alone())));
    }
    for (int k = 0; k < repeats; ++k) {
      EXPECT_TRUE(one.repeats_itself()) << k;
      EXPECT_TRUE(other.repeats_itself()) << k;
    }
    std::atomic<int> wrong = 0;
    const auto work = [&](const set_up_on<V>& mine) {
      for (int k = 0; k < repeats; ++k) wrong += !mine.repeats_itself();
    };
    std::thread beside(work, std::cref(other));
    work(one);
    beside.join();
    EXPECT_EQ(wrong, 0);
  }
}

TYPED_TEST(gpu_pair, sets_up_and_ends_from_two_threads) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(60, 50));
  const set_up_on<V> expected(this->gpu, a, "csr", "auto", "jacobi");
  std::atomic<int> wrong = 0;
  const auto work = [&](device where) {
    for (int k = 0; k < repeats; ++k) {
      auto mine = std::make_unique<set_up_on<V>>(where, a, "csr", "auto", "jacobi");
      select_device({device::kind::gpu, 1 - where.ordinal}); // it ends where another device is the thread's
      wrong += !mine->repeats_itself();
      mine.reset();
    }
  };
  std::thread beside(work, this->second);
  work(this->gpu);
  beside.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(expected.repeats_itself());
}

TYPED_TEST(gpu_pair, operators_multiply_on_their_own_device) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(60, 50));
  const auto x = kit::random_vector<V>(3000, 1);
  host_array<V> expected;
  const std::vector both{this->gpu, this->second};
  for (const device where : both) {
    select_device(where);
    const auto op = make<V>(choose(measure(a), precision_of<V>, where, {"csr", "auto"}), where, a);
    const gpu_array<V> there(x);
    gpu_array<V> y(3000);
    select_device(where == this->gpu ? this->second : this->gpu);
    op->apply(1, as_cview(there), 0, as_view(y));
    const host_array<V> home(y); // on the stream of the device that it comes from
    if (expected.empty()) expected = home;
    for (index_t i = 0; i < 3000; ++i) ASSERT_NEAR(home[i], expected[i], 100 * std::numeric_limits<V>::epsilon()) << i;
  }
}

TYPED_TEST(gpu_pair, refuses_vectors_of_the_other_one_and_leaves_the_device_as_it_was) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(60, 50));
  const matrix<V> there(a, {.where = this->second});
  select_device(this->gpu);
  const gpu_array<V> x(kit::random_vector<V>(3000, 1));
  gpu_array<V> y(3000);
  try {
    there.apply(1, as_cview(x), 0, as_view(y));
    FAIL() << "it took vectors of another GPU";
  } catch (const error& e) {
    EXPECT_STREQ(e.what(), "x lies on gpu:0, but this runs on gpu:1: give it there, or in host memory");
  }
  const host_array<V> home_x(x);
  host_array<V> home_y(3000);
  for (int before = 0; before < 2; ++before) {
    ASSERT_EQ(cudaSetDevice(before), cudaSuccess);
    there.apply(1, as_cview(home_x), 0, as_view(home_y));
    int now = -1;
    ASSERT_EQ(cudaGetDevice(&now), cudaSuccess);
    EXPECT_EQ(now, before);
  }
  EXPECT_EQ(gpu::current_queue().ordinal, 0);
}

} // namespace
} // namespace furrow
