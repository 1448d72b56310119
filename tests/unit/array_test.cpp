// SPDX-License-Identifier: BSD-3-Clause
#include "kit/said_by.hpp"

#include <furrow/array.hpp>
#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace furrow {
namespace {

TEST(array, resize_keeps_the_memory_where_it_is_large_enough) {
  host_array<double> a(100, 1.0);
  const double* const memory = a.data();
  a.resize(10);
  EXPECT_EQ(a.size(), 10);
  EXPECT_EQ(a.capacity(), 100);
  a.resize(100);
  EXPECT_EQ(a.data(), memory);
  a.resize(101);
  EXPECT_EQ(a.size(), 101);
  EXPECT_GE(a.capacity(), 101);
}

TEST(array, extend_keeps_the_data) {
  host_array<int> a{1, 2, 3};
  a.extend(1000);
  ASSERT_EQ(a.size(), 1000);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(a[1], 2);
  EXPECT_EQ(a[2], 3);
  a.extend(2);
  EXPECT_EQ(a.size(), 2);
  EXPECT_EQ(a.capacity(), 1000);
}

TEST(array, copies_are_deep_and_moves_leave_an_empty_array) {
  host_array<int> a{1, 2, 3}, b = a;
  b[0] = 7;
  EXPECT_EQ(a[0], 1);
  const int* const memory = b.data();
  host_array<int> c = std::move(b);
  EXPECT_EQ(c.data(), memory);
  EXPECT_TRUE(b.empty()); // NOLINT(bugprone-use-after-move): what a moved-from array is, is the contract under test
  host_array<int> d{4, 5};
  d = std::move(c);
  EXPECT_EQ(d.data(), memory);
  EXPECT_TRUE(c.empty());       // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(c.data(), nullptr); // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(c.capacity(), 0);   // NOLINT(bugprone-use-after-move)
  c = {8, 9};                   // and it can be used again
  EXPECT_EQ(c[1], 9);
  auto& same = d;
  d = std::move(same); // what is moved to itself stays
  ASSERT_EQ(d.size(), 3);
  EXPECT_EQ(d.data(), memory);
  std::swap(c, d);
  EXPECT_EQ(c.data(), memory);
  a = c;
  EXPECT_EQ(a[0], 7);
  a = a; // NOLINT: self-assignment is part of the contract
  EXPECT_EQ(a[0], 7);
}

TEST(array, an_empty_array_owns_nothing) {
  host_array<double> a(0), b;
  EXPECT_EQ(a.data(), nullptr);
  b = a;
  EXPECT_TRUE(b.empty());
}

TEST(array, sizes_that_no_memory_holds_are_refused) {
  EXPECT_THROW(host_array<double>(std::numeric_limits<index_t>::max() / 4), error);
  EXPECT_EQ(kit::said_by(fault::memory, [] { host_array<double>(index_t(1) << 60); }),
            "1152921504606846976 elements of 8 bytes are 2^63 bytes or more: no memory holds that");
}

TEST(array, sizes_below_zero_are_refused_and_change_nothing) {
  host_array<double> a(3, 1.5);
  const std::function<void()> calls[] = {[] { host_array<double>(index_t(-1)); },
                                         [] { host_array<double>(std::numeric_limits<index_t>::min(), 1.0); },
                                         [&] { a.resize(-1); }, [&] { a.extend(-7); }};
  for (const auto& call : calls) {
    const std::string what = kit::said_by(fault::usage, call);
    EXPECT_NE(what.find("an array cannot have -"), std::string::npos) << what;
    EXPECT_EQ(what.find(".cpp"), std::string::npos) << what;
  }
  ASSERT_EQ(a.size(), 3);
  EXPECT_EQ(a[2], 1.5);
}

TEST(array, memory_is_aligned_for_vectors) {
  for (index_t n : {1, 3, 1000, 1 << 20})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host_array<double>(n).data()) % 64, 0u) << n;
}

template <class T> struct array_of : testing::Test {};
using elements = testing::Types<double, float, std::int32_t, std::int64_t, char>;
TYPED_TEST_SUITE(array_of, elements);

TYPED_TEST(array_of, keeps_values_through_copies_moves_and_growth) {
  using T = TypeParam;
  for (const index_t n : {0, 1, 17, 4096, 300000}) { // the last is large enough for pages of its own
    host_array<T> a(n);
    for (index_t i = 0; i < n; ++i) a[i] = static_cast<T>(i % 100);
    host_array<T> b = a, c;
    c = b;
    b = std::move(a);
    c.extend(2 * n + 1);
    ASSERT_EQ(b.size(), n);
    ASSERT_EQ(c.size(), 2 * n + 1);
    EXPECT_EQ(b.byte_count(), static_cast<std::size_t>(n) * sizeof(T));
    for (index_t i = 0; i < n; ++i) {
      ASSERT_EQ(b[i], static_cast<T>(i % 100));
      ASSERT_EQ(c[i], static_cast<T>(i % 100));
    }
  }
}

TEST(array, assignment_reuses_memory_that_is_large_enough) {
  host_array<int> a(100, 1);
  const int* const memory = a.data();
  const host_array<int> b{1, 2, 3};
  a = b;
  EXPECT_EQ(a.data(), memory);
  EXPECT_EQ(a.size(), 3);
  EXPECT_EQ(a[2], 3);
}

TEST(array, gpu_memory_without_a_gpu_is_a_device_fault) {
  if (!inspect_gpus().gpus.empty()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_NE(kit::said_by(fault::device, [&] { gpu_array<double> a(10); }), "");
  EXPECT_TRUE(gpu_array<double>().empty());
}

TEST(view, parts_and_overlaps) {
  host_array<double> a(10, 1.0), b(10, 1.0);
  const auto left = part(as_view(a), 0, 5), right = part(as_view(a), 5, 5), middle = part(as_view(a), 4, 2);
  EXPECT_FALSE(overlap(left, right));
  EXPECT_TRUE(overlap(left, middle));
  EXPECT_TRUE(overlap(right, middle));
  EXPECT_FALSE(overlap(as_view(a), as_view(b)));
  EXPECT_FALSE(overlap(part(as_view(a), 3, 0), as_view(a)));
  EXPECT_EQ(middle.size, 2);
  EXPECT_EQ(middle.data, a.data() + 4);
}

double sum(cview<double> x) {
  double total = 0;
  for (const double v : x) total += v;
  return total;
}
void fill(view<double> y, double value) {
  for (double& v : y) v = value;
}

TEST(view, whatever_holds_elements_one_after_another_goes_where_a_view_is_asked_for) {
  std::vector<double> list(3);
  host_array<double> array(4);
  std::array<double, 2> fixed{};
  double plain[5] = {};
  fill(list, 1), fill(array, 2), fill(fixed, 3), fill(plain, 4);
  EXPECT_EQ(sum(list), 3);
  EXPECT_EQ(sum(array), 8);
  EXPECT_EQ(sum(fixed), 6);
  EXPECT_EQ(sum(plain), 20);
  fill(std::span(list).first(2), 5);
  EXPECT_EQ(sum(std::span<const double>(list)), 11);
  const auto& unchanging = list;
  EXPECT_EQ(sum(unchanging), 11);
  EXPECT_EQ(sum(std::vector<double>(7, 1.0)), 7); // lives until the call returns
  EXPECT_EQ(sum(as_view(array)), 8);
  EXPECT_EQ(sum({}), 0);
}

template <class From, class To> constexpr bool converts = std::is_convertible_v<From, To>;
static_assert(!converts<std::vector<double>, view<double>>, "what is written into a temporary is lost");
static_assert(!converts<const std::vector<double>&, view<double>> && !converts<std::span<const double>, view<double>>);
static_assert(!converts<std::vector<float>&, view<double>> && !converts<std::vector<float>&, cview<double>>);
static_assert(!converts<cview<double>, view<double>> && !converts<double*, view<double>>);
static_assert(std::is_trivially_copyable_v<view<double>> && std::is_trivially_copyable_v<cview<double>>);

TEST(device, words_that_name_one) {
  EXPECT_EQ(parse_device("cpu"), device{});
  for (const char* bad : {"", "gp", "gpu:", "gpu:x", "gpu:-1", "gpu:1x", "CPU"}) {
    EXPECT_NE(kit::said_by(fault::usage, [&] { parse_device(bad); }), "");
  }
  EXPECT_EQ(describe({}), "cpu");
  const auto found = inspect_gpus();
  if (found.gpus.empty()) {
    EXPECT_EQ(parse_device("auto"), device{});
    EXPECT_FALSE(found.problem.empty());
    EXPECT_THROW(parse_device("gpu"), error);
  } else {
    EXPECT_TRUE(parse_device("auto").is_gpu());
  }
  EXPECT_GT(available_host_memory(), 0);
}

} // namespace
} // namespace furrow
