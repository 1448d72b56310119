// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/space.hpp"

#include "on_gpu.hpp"

#include "kit/space_check.hpp"

namespace furrow {
namespace {

template <class V> struct gpu_space : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_space, precisions);

TYPED_TEST(gpu_space, keeps_the_promises_of_a_space) {
  gpu::space<TypeParam> space;
  kit::check_space(space);
}

/// A thread's batch of indices is whole, or sticks out by one of them or by all but one.
TYPED_TEST(gpu_space, sweeps_batches_that_stick_out) {
  using V = TypeParam;
  const index_t stride = index_t(gpu::current_queue().multiprocessors) * 8 * gpu::sweep_threads;
  gpu::space<V> space;
  for (const index_t n : {stride - 1, stride + 1, 3 * stride, 3 * stride + 1, 4 * stride - 1, 4 * stride + 33}) {
    SCOPED_TRACE(n);
    host_array<V> x(n), y(n);
    double wanted = 0;
    for (index_t i = 0; i < n; ++i) {
      x[i] = V(i % 7);
      y[i] = V(i % 5);
      wanted += double(x[i]) * double(y[i]);
    }
    const gpu_array<V> from(x);
    gpu_array<V> to(y);
    auto slots = space.make_slots(4);
    const double three[] = {3, 1};
    space.put({three, 2}, part(as_view(slots), 0, 2));
    double* const s = slots.data();
    space.sweep(n, kit::probe_step<V>{as_cview(from), as_view(to), {slot{s}, slot{s + 1}}}, slot{s + 2}, slot{s + 3});
    EXPECT_EQ(space.read({s + 2}), wanted);
    EXPECT_EQ(space.read({s + 3}), double(n));
    const host_array<V> got(to);
    for (index_t i = 0; i < n; ++i) ASSERT_EQ(got[i], V(2) * x[i] + V(3) * y[i]) << i;
  }
}

/// What stands beside `until` is made in every step, the last one too, and none of it after that.
TYPED_TEST(gpu_space, repeats_what_stands_beside_the_question) {
  using V = TypeParam;
  gpu::space<V> space;
  gpu_array<V> y(host_array<V>(1, V(0))), z(host_array<V>(1, V(0)));
  auto slots = space.make_slots(2);
  const slot steps{slots.data()}, beside{slots.data() + 1};
  for (const bool waits : {false, true}) {
    auto loop = space.repeat([&] { space.sweep(1, kit::count_up<V>{as_view(y)}, steps); },
                             kit::reached{slots.data(), waits ? 14.0 : 7.0}, waits,
                             [&] { space.sweep(1, kit::count_up<V>{as_view(z)}, beside); }, true);
    EXPECT_FALSE(loop.run(3));
    EXPECT_EQ(space.read(beside), space.read(steps));
    EXPECT_TRUE(loop.run(100));
    EXPECT_EQ(space.read(steps), waits ? 14 : 7);
    EXPECT_EQ(space.read(beside), waits ? 14 : 7);
  }
}

} // namespace
} // namespace furrow
