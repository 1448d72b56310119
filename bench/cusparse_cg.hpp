// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <string>
#include <utility>

namespace furrow::bench {

/// Seconds of an iteration of conjugate gradients by cuSPARSE and cuBLAS: with the residual read each step, and as a
/// CUDA graph that never looks.
std::pair<double, double> cusparse_cg(const coo<double>& a, index_t iterations);
std::string cublas_version();

} // namespace furrow::bench
