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

} // namespace
} // namespace furrow
