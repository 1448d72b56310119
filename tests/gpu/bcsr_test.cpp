// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "kit/operator_check.hpp"

namespace furrow {
namespace {

template <class V> struct gpu_bcsr : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_bcsr, precisions);

/// Also of matrices that the format would refuse, which the tests of all formats leave out.
TYPED_TEST(gpu_bcsr, multiplies_with_blocks_of_every_size) {
  auto matrices = kit::battery();
  for (auto& m : kit::large_battery()) matrices.push_back(std::move(m));
  const auto& there = find_format("bcsr").gpu;
  if (!there.template make<TypeParam>()) GTEST_SKIP() << "this build has no GPU part";
  for (const auto& m : matrices) {
    const auto a = kit::as_precision<TypeParam>(m.a);
    const kit::judged<TypeParam> judge(a);
    for (const char* edge : {"2", "3", "4", "5", "6", "7", "8"}) {
      SCOPED_TRACE(m.name + ", blocks of " + edge);
      const auto make = [&](coo<TypeParam> own) {
        return there.template make<TypeParam>()(std::move(own), edge, "auto");
      };
      kit::check_operator<TypeParam, kit::gpu_side>(make, judge, 5);
    }
  }
}

} // namespace
} // namespace furrow
