// SPDX-License-Identifier: BSD-3-Clause
#include "short_values.hpp"

#include "kit/random.hpp"

#include <furrow/array.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace furrow {
namespace {

using whole_values = short_values<double>;
constexpr index_t many = (index_t(1) << 17) + 5;

/// values[k] = f(k).
template <class V, class F> host_array<V> values_of(F f, index_t count = many) {
  host_array<V> values(count);
  for (index_t k = 0; k < count; ++k) values[k] = V(f(k));
  return values;
}

template <class V> void expect_numbers_to_stand_for(const host_array<V>& values) {
  const short_values<V> s(as_cview(values));
  ASSERT_EQ(s.proposed(), short_values<V>::form::numbers);
  host_array<std::uint8_t> numbers(values.size());
  ASSERT_TRUE(s.write_numbers(values.data(), values.size(), numbers.data()));
  for (index_t k = 0; k < values.size(); ++k) {
    const V stands_for = s.table()[static_cast<std::size_t>(numbers[k])];
    ASSERT_EQ(std::bit_cast<bits_of<V>>(stands_for), std::bit_cast<bits_of<V>>(values[k])) << k;
  }
}

TEST(short_values, few_of_them_have_numbers) {
  for (const int count : {1, 2, 3, 4}) {
    const auto of = [&](index_t k) { return std::sin(double(1 + k % count)); };
    expect_numbers_to_stand_for(values_of<double>(of));
    expect_numbers_to_stand_for(values_of<float>(of));
  }
}

TEST(short_values, are_told_apart_by_their_bits) {
  const auto payload = std::bit_cast<double>(std::bit_cast<std::uint64_t>(std::nan("")) + 77);
  const double these[] = {0.0, -0.0, std::nan(""), payload};
  expect_numbers_to_stand_for(values_of<double>([&](index_t k) { return these[k % 4]; }));
}

TEST(short_values, of_a_kind_that_no_look_has_met_have_no_number) {
  for (const double stranger : {3.0, -0.0, std::nan(""), 1e300}) {
    auto values = values_of<double>([](index_t k) { return k % 2 ? 1.0 : 0.0; });
    values[many / 2] = stranger; // between two runs
    const whole_values s(as_cview(values));
    ASSERT_EQ(s.proposed(), whole_values::form::numbers);
    host_array<std::uint8_t> numbers(many);
    EXPECT_FALSE(s.write_numbers(values.data(), many, numbers.data())) << stranger;
    EXPECT_TRUE(s.write_numbers(values.data(), many / 2, numbers.data())) << stranger;
  }
}

TEST(short_values, go_in_single_precision_where_that_keeps_them) {
  const auto values = values_of<double>([](index_t k) { return double(k) / 1024; });
  ASSERT_EQ(whole_values(as_cview(values)).proposed(), whole_values::form::single);
  host_array<float> narrow(many);
  ASSERT_TRUE(whole_values::write_single(values.data(), many, narrow.data()));
  for (index_t k = 0; k < many; ++k) ASSERT_EQ(double(narrow[k]), values[k]);
  const double lost[] = {0.1, 1e300, 1e-320, 16777217.0};
  for (const double v : lost) EXPECT_FALSE(whole_values::write_single(&v, 1, narrow.data())) << v;
  const auto payload = std::bit_cast<double>(std::bit_cast<std::uint64_t>(std::nan("")) + 1);
  EXPECT_FALSE(whole_values::write_single(&payload, 1, narrow.data()));
}

TEST(short_values, go_whole_where_they_are_many_or_all_of_them_little) {
  const auto random = kit::random_vector<double>(many, 5);
  EXPECT_EQ(whole_values(as_cview(random)).proposed(), whole_values::form::whole);
  const auto single = kit::random_vector<float>(many, 5);
  EXPECT_EQ(short_values<float>(as_cview(single)).proposed(), short_values<float>::form::whole);
  const auto few = values_of<double>([](index_t) { return 1.0; }, 1 << 16);
  EXPECT_EQ(whole_values(as_cview(few)).proposed(), whole_values::form::whole);
  EXPECT_EQ(whole_values({}).proposed(), whole_values::form::whole);
  const auto five = values_of<double>([](index_t k) { return 0.1 * double(1 + k % 5); });
  EXPECT_EQ(whole_values(as_cview(five)).proposed(), whole_values::form::whole);
}

} // namespace
} // namespace furrow
