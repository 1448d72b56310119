// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "kit/operator_check.hpp"

#include <furrow/storage.hpp>

namespace furrow {
namespace {

template <class V> struct gpu_formats : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_formats, precisions);

TYPED_TEST(gpu_formats, multiply_the_battery) {
  kit::check_all_formats<TypeParam, kit::gpu_side>(this->gpu, kit::battery());
}

TYPED_TEST(gpu_formats, multiply_large_matrices) {
  kit::check_all_formats<TypeParam, kit::gpu_side>(this->gpu, kit::large_battery(), 10);
}

TYPED_TEST(gpu_formats, every_format_has_code_for_the_gpu) {
  for (const format_entry* f : formats()) EXPECT_NE(f->gpu.template make<TypeParam>(), nullptr) << f->name;
}

struct gpu_arrays : on_gpu {};

TEST_F(gpu_arrays, carry_bits_there_and_back) {
  for (const index_t n : {0, 1, 17, 4096, 1 << 20}) {
    const auto values = kit::random_vector<double>(n, 1);
    const gpu_array<double> there(values), copy = there;
    const host_array<double> back(copy);
    EXPECT_TRUE(kit::same_bits(as_cview(back), as_cview(values))) << n;
  }
}

TEST_F(gpu_arrays, extend_keeps_the_data_and_resize_the_memory) {
  const auto values = kit::random_vector<float>(1000, 2);
  gpu_array<float> a(values);
  a.extend(100000);
  const host_array<float> all(a);
  EXPECT_TRUE(kit::same_bits(part(as_cview(all), 0, 1000), as_cview(values)));
  const float* const memory = a.data();
  a.resize(10);
  a.resize(100000);
  EXPECT_EQ(a.data(), memory);
}

TEST_F(gpu_arrays, more_than_there_is_is_a_memory_fault) {
  try {
    const gpu_array<double> a(available_gpu_memory(0)); // eight times that in bytes
    FAIL() << "allocated";
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::memory) << e.what();
  }
  const gpu_array<double> after(host_array<double>{1, 2, 3}); // and the device still works
  EXPECT_EQ(host_array<double>(after)[2], 3);
}

} // namespace
} // namespace furrow
