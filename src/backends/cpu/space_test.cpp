// SPDX-License-Identifier: BSD-3-Clause
#include "space.hpp"

#include "kit/space_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>

namespace furrow {
namespace {

static_assert(vector_space<cpu::space<double>> && vector_space<cpu::space<float>>);

template <class V> struct cpu_space : testing::Test {
  ~cpu_space() override { set_threads(0); }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cpu_space, precisions);

TYPED_TEST(cpu_space, keeps_the_promises_of_a_space) {
  cpu::space<TypeParam> space;
  kit::check_space(space);
}

TYPED_TEST(cpu_space, sums_have_the_same_bits_for_every_number_of_threads) {
  const index_t n = 1000003;
  const auto x = kit::random_vector<TypeParam>(n, 1), y = kit::random_vector<TypeParam>(n, 2);
  double one = 0;
  for (const int count : {1, 2, 3, 5}) {
    set_threads(count);
    cpu::space<TypeParam> space;
    double got = 0;
    space.dot(as_cview(x), as_cview(y), slot{&got});
    if (count == 1) one = got;
    EXPECT_EQ(got, one) << count << " threads";
  }
}

TEST(threads, can_be_set_and_asked_for) {
  set_threads(3);
  EXPECT_EQ(threads(), 3);
  set_threads(0);
  EXPECT_GE(threads(), 1);
  EXPECT_THROW(set_threads(-1), error);
}

TEST(parallel, every_index_is_visited_once) {
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    for (const index_t n : {0, 1, 2, 3, 1000, 4097}) {
      std::vector<char> seen(static_cast<std::size_t>(n));
      cpu::for_each_range(n, 10, [&](index_t first, index_t last) {
        for (index_t i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (const char s : seen) ASSERT_EQ(s, 1);
    }
  }
  set_threads(0);
}

TEST(parallel, an_exception_of_a_task_arrives) {
  set_threads(2);
  const auto fail = [] { cpu::for_each_task(100, [](index_t k) { check(k != 57, fault::input, "the 57th"); }); };
  EXPECT_THROW(fail(), error);
  set_threads(0);
}

} // namespace
} // namespace furrow
