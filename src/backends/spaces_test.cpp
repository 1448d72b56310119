// SPDX-License-Identifier: BSD-3-Clause
#include "kit/said_by.hpp"
#include "kit/spaces_check.hpp"

#include <furrow/function_operator.hpp>
#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>

namespace furrow {
namespace {

template <class V> struct host_spaces : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(host_spaces, precisions);

TYPED_TEST(host_spaces, do_what_their_names_say) { kit::check_space<host_space<TypeParam>>(); }

TYPED_TEST(host_spaces, csr_is_built_from_arrays_multiplied_and_copied_back) {
  for (const char* spec : {"poisson2d:20", "rectangular:30:200:9", "powerlaw:300:6:2.5"})
    kit::check_csr<TypeParam, host_memory>(generate(spec).a);
  kit::check_csr<TypeParam, host_memory>(coo<double>{{3, 2}, {}, {}, {}});
}

TEST(host_spaces_say, what_does_not_fit) {
  kit::check_sentences_of_space<host_space<double>>();
  EXPECT_EQ(kit::usage_said_by([] {
              host_space<double> s(device{device::kind::gpu, 0});
            }),
            "a space of host memory runs on the CPU, and one of a GPU's memory on a GPU");
  EXPECT_EQ(kit::usage_said_by([] { gpu_space<double> s(device{}); }),
            "a space of host memory runs on the CPU, and one of a GPU's memory on a GPU");
  const std::vector<std::int32_t> row_ptr{0, 1, 2}, col{0, 2};
  const std::vector<double> val{1, 1};
  EXPECT_EQ(kit::said_by(fault::input,
                         [&] {
                           host_csr<double>({2, 2}, row_ptr, col, val);
                         }),
            "entry 1, in row 1, is in column 2 of a matrix of 2 x 2: indices count from 0");
}

TEST(csr_of_its_own, multiplies_where_it_was_moved_from) {
  host_csr<double> from({1, 1}, std::vector<std::int32_t>{0, 1}, std::vector<std::int32_t>{0}, std::vector{2.0});
  const host_csr<double> to = std::move(from);
  double x[] = {3}, y[] = {0}, z[] = {0};
  from.apply(1, x, 0, y);
  to.apply(1, x, 0, z);
  EXPECT_EQ(y[0], 6);
  EXPECT_EQ(z[0], 6);
}

/// One sentence in place of a GPU that is not there.
TEST(gpu_spaces_without_a_gpu, say_why) {
  if (!inspect_gpus().gpus.empty()) GTEST_SKIP() << "there is a GPU";
  const auto said = [](auto&& f) -> std::string { return kit::said_by(fault::device, f); };
  const std::string sentence = "no GPU can be used: " + inspect_gpus().problem;
  EXPECT_EQ(said([] { gpu_space<double> s; }), sentence);
  const host_csr<double> a({1, 1}, std::vector<std::int32_t>{0, 1}, std::vector<std::int32_t>{0}, std::vector{2.0});
  EXPECT_EQ(said([&] { gpu_csr<double> there(a); }), sentence);
  EXPECT_EQ(said([] { gpu_array<double> there(3); }), sentence);
  const device first{device::kind::gpu, 0};
  EXPECT_EQ(said([&] { matrix<double>(*a.to_triplets(), {.where = first}); }), sentence);
  EXPECT_EQ(said([&] { const driven_by_host by_host(first); }), sentence);
  EXPECT_EQ(said([&] { const execution_scope on_a_stream({first, nullptr}); }), sentence);
}

} // namespace
} // namespace furrow
