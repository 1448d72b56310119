// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

/// cuSPARSE and cuBLAS doing the same work, and the clock.
namespace furrow::bench {

/// Median seconds of `work`, which enqueues on the current queue; 5 runs to warm up, 25 measured.
double time_on_gpu(const std::function<void()>& work);

std::string library_versions();

/// Name and seconds of y = A x by each algorithm, preprocessed where it can be.
template <class V>
std::vector<std::pair<std::string, double>> cusparse_products(const coo<V>& a, cview<V> x, view<V> y);

/// Seconds an iteration: with the residual read each step, and as a CUDA graph that never looks.
std::pair<double, double> cusparse_cg(const coo<double>& a, index_t iterations);

} // namespace furrow::bench
