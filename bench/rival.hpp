// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <memory>
#include <string>

namespace furrow::bench {

/// Another library holding the same matrix. Its code lives in a translation unit of its own, compiled for its best
/// mode.
template <class V> struct rival {
  virtual ~rival() = default;
  virtual void product(const V* x, V* y) = 0; ///< y = A x; the vectors lie in the rival's own layout
  /// Jacobi-preconditioned conjugate gradients from x = 0 for `iterations`; the seconds of one of them.
  virtual double iteration_seconds(const V* b, int iterations) = 0;
};

/// Null where this build has no Eigen.
template <class V> std::unique_ptr<rival<V>> make_eigen(const coo<V>& a, int threads);
std::string eigen_version();

} // namespace furrow::bench
