// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "kit/matrices.hpp"
#include "kit/said_by.hpp"
#include "kit/several_check.hpp"

#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace furrow {
namespace {

template <class V> struct gpu_formats : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_formats, precisions);

/// In two halves, since each takes more than a minute; numbers of lanes and blocks have tests of their own.
template <class V> void check_half_of_the_battery(device where, int half) {
  auto all = kit::battery();
  const auto middle = all.begin() + std::ssize(all) / 2;
  if (half == 0) all.erase(middle, all.end());
  else all.erase(all.begin(), middle);
  kit::check_all_formats<V, kit::gpu_side>(where, all, 20, kit::pairs::of_each);
}
TYPED_TEST(gpu_formats, multiply_the_first_half_of_the_battery) { check_half_of_the_battery<TypeParam>(this->gpu, 0); }
TYPED_TEST(gpu_formats, multiply_the_second_half_of_the_battery) { check_half_of_the_battery<TypeParam>(this->gpu, 1); }

TYPED_TEST(gpu_formats, multiply_large_matrices) {
  kit::check_all_formats<TypeParam, kit::gpu_side>(this->gpu, kit::large_battery(), 10);
}

TYPED_TEST(gpu_formats, multiply_several_vectors) {
  kit::check_several_in_all_formats<TypeParam, kit::gpu_side>(this->gpu);
}

TYPED_TEST(gpu_formats, multiply_blocks_of_large_matrices_with_the_same_bits) {
  using V = TypeParam;
  for (const char* name :
       {"poisson3d:30", "elasticity3d:12", "varying3d:20:1", "random:20000:9", "powerlaw:20000:8:2.5"}) {
    const auto a = kit::as_precision<V>(generate(name).a);
    const auto x = kit::random_vector<V>(a.shape.cols * 8, 5);
    for (const char* f : {"csr", "sell", "packed", "bcsr", "dia", "stencil", "ell"}) {
      if (!kit::serves(find_format(f), a)) continue;
      SCOPED_TRACE(std::string(name) + ' ' + f);
      const auto op = find_format(f).gpu.template make<V>()(a, "", "auto");
      EXPECT_TRUE(op->multiplies_blocks());
      kit::check_several<V, kit::gpu_side>(*op, a, 8, storage_order::row_major, V(1), V(0));
      kit::check_several<V, kit::gpu_side>(*op, a, 16, storage_order::row_major, V(1), V(0));
      const gpu_array<V> there(x);
      host_array<V> first;
      for (int turn = 0; turn < 5; ++turn) {
        gpu_array<V> y(a.shape.rows * 8);
        op->apply_block(as_cview(there), as_view(y), 8);
        host_array<V> got(y);
        if (turn == 0) first = std::move(got);
        else ASSERT_TRUE(kit::same_bits(as_cview(got), as_cview(first)));
      }
    }
  }
}

/// So many rows that packed takes one group of slots at a time: with stored values, with numbered ones and with one.
TYPED_TEST(gpu_formats, packed_adds_in_the_order_of_sell_where_rows_are_many) {
  using V = TypeParam;
  for (const std::string name : {"banded:420000:6:40", "stencil3d27:76", "one value"}) {
    SCOPED_TRACE(name);
    auto a = kit::as_precision<V>(generate(name == "one value" ? "stencil3d27:76" : name).a);
    if (name == "one value") std::fill(a.val.begin(), a.val.end(), V(-1.25));
    const gpu_array<V> x(kit::random_vector<V>(a.shape.cols, 5));
    const auto product = [&](const char* format) {
      gpu_array<V> y(a.shape.rows);
      find_format(format).gpu.template make<V>()(a, "", "slices")->apply(V(1), as_cview(x), V(0), as_view(y));
      return host_array<V>(y);
    };
    const auto packed = product("packed"), sell = product("sell");
    EXPECT_TRUE(kit::same_bits(as_cview(packed), as_cview(sell)));
  }
}

/// Rows that one walk, one part and many parts take, beside each other and at both ends.
TYPED_TEST(gpu_formats, multiply_blocks_with_rows_of_every_length) {
  using V = TypeParam;
  const index_t lengths[] = {9000, 1, 64, 121, 0, 122, 128, 129, 1025, 2048, 12345, 7, 30000};
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < std::ssize(lengths); ++i)
    for (index_t k = 0; k < lengths[i]; ++k) entries.push_back({i, (k * 37 + i) % 30011, 1.0 / double(k + i + 1)});
  const auto a = kit::as_precision<V>(kit::assemble({4000, 30011}, std::move(entries))); // short rows on average
  const auto op = find_format("csr").gpu.template make<V>()(a, "", "auto");
  for (int turn = 0; turn < 3; ++turn)
    for (const index_t count : {2, 4, 8, 16}) // the counts of arrived parts are zero again each time
      kit::check_several<V, kit::gpu_side>(*op, a, count, storage_order::row_major, V(1), V(0));
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
  EXPECT_NE(kit::said_by(fault::memory,
                         [&] {
                           const gpu_array<double> a(available_gpu_memory(0)); // eight times that in bytes
                         }),
            "");
  const gpu_array<double> after(host_array<double>{1, 2, 3}); // and the device still works
  EXPECT_EQ(host_array<double>(after)[2], 3);
}

} // namespace
} // namespace furrow
