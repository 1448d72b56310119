// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "kit/chebyshev_check.hpp"
#include "kit/random.hpp"

#include <cmath>
#include <cstring>

namespace furrow::chebyshev {
namespace {

template <class V> struct gpu_chebyshev : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_chebyshev, precisions);

constexpr algorithm all[] = {algorithm::direct, algorithm::fft,         algorithm::thread,
                             algorithm::block,  algorithm::block_sweep, algorithm::warp};

TYPED_TEST(gpu_chebyshev, keeps_its_bounds) {
  for (const auto how : all) kit::check_products<TypeParam>(how, this->gpu, 2600);
}
TYPED_TEST(gpu_chebyshev, gives_the_known_products) {
  for (const auto how : all) kit::check_known_products<TypeParam>(how, this->gpu);
}
TYPED_TEST(gpu_chebyshev, survives_the_ends_of_the_range) {
  for (const auto how : all) kit::check_scaled_products<TypeParam>(how, this->gpu);
}
TYPED_TEST(gpu_chebyshev, works_in_batches) {
  for (const auto how : all) kit::check_batches<TypeParam, gpu_array>(how, this->gpu);
}

/// Large enough for many chunks and blocks; the sums of the CPU are the reference of the transforms and the reverse.
TYPED_TEST(gpu_chebyshev, agrees_with_the_cpu_on_long_series) {
  using V = TypeParam;
  const auto a = kit::random_vector<V>(30000, 1), b = kit::random_vector<V>(20001, 2);
  const product_options home{convention::plain, {}, algorithm::fft, {}, {}};
  const auto expected = multiply<V>(as_cview(a), as_cview(b), home);
  for (const auto how : {algorithm::direct, algorithm::fft}) {
    const product_options o{convention::plain, {}, how, {}, this->gpu};
    const auto c = multiply<V>(as_cview(a), as_cview(b), o);
    const double bound =
        error_bound<V>(as_cview(a), as_cview(b), o, how) + error_bound<V>(as_cview(a), as_cview(b), o, algorithm::fft);
    for (index_t k = 0; k < c.size(); ++k) ASSERT_LE(std::abs(double(c[k]) - double(expected[k])), bound) << k;
  }
}

TYPED_TEST(gpu_chebyshev, gives_the_same_bits_every_time) {
  using V = TypeParam;
  const auto a = kit::random_vector<V>(5000, 1), b = kit::random_vector<V>(4000, 2);
  const gpu_array<V> there_a(a), there_b(b);
  for (const auto how : all) {
    product_plan<V> plan(a.size(), b.size(), 1, {convention::plain, {}, how, {}, this->gpu});
    host_array<V> first;
    for (int repeat = 0; repeat < 100; ++repeat) {
      gpu_array<V> there_c(host_array<V>(plan.size(), V(NAN)));
      plan.multiply({there_a.data()}, {there_b.data()}, {there_c.data()});
      host_array<V> c(there_c);
      if (repeat == 0) first = std::move(c);
      else ASSERT_EQ(std::memcmp(first.data(), c.data(), c.byte_count()), 0) << name_of(how) << repeat;
    }
  }
}

} // namespace
} // namespace furrow::chebyshev
