// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/options.hpp"

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
  solve_options solving(std::string solver, std::string precond, double rtol = solve_options{}.rtol) const {
    auto o = kit::options(std::move(solver), std::move(precond), rtol);
    o.where = gpu;
    return o;
  }
};
using precisions = testing::Types<double, float>;

} // namespace furrow
