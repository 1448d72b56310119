// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows_on_gpu.hpp"

namespace furrow::jacobi_preconditioner {

/// What is asked of the diagonal of rows on the current GPU.
struct wanted_inverse {
  bool positive = false; ///< an entry that is not is refused
  bool absolute = false; ///< 1 / |A[i,i]|
};

#if FURROW_HAS_GPU
/// 1 / A[i,i]; nothing where an entry is refused, is 0 or so small that its inverse is not finite: the host says which.
/// Waits.
template <class V> std::optional<gpu_array<V>> inverse_on_gpu(const rows_on_gpu<V>& a, wanted_inverse wanted);
#endif

} // namespace furrow::jacobi_preconditioner
