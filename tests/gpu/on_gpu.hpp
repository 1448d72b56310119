// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>
#include <furrow/solve.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace furrow {

/// A test that needs a GPU: skipped, with the reason, where there is none.
struct on_gpu : testing::Test {
  device gpu{device::kind::gpu, 0};

  void SetUp() override {
    const gpu_status found = inspect_gpus();
    if (found.gpus.empty()) GTEST_SKIP() << "no GPU: " << found.problem;
    select_device(gpu);
  }
};

/// The same for tests in both precisions.
template <class V> struct on_gpu_in : on_gpu {
  /// Options of a solve there.
  solve_options solving(std::string solver, std::string precond, double rtol) const {
    solve_options o;
    o.where = gpu;
    o.solver = std::move(solver);
    o.precond = std::move(precond);
    o.rtol = rtol;
    return o;
  }
};
using precisions = testing::Types<double, float>;

} // namespace furrow
