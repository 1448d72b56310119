// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow::bench {

/// Seconds of an iteration of a loop of cuSPARSE and cuBLAS calls, without a preconditioner, b = A * ones.
struct loop_seconds {
  double read_each = 0; ///< one number comes to the host each iteration, as a stopping test needs it
  double blind = 0;     ///< nothing comes: bicgstab as a CUDA graph, gmres without its small algebra on the host
};

/// Biconjugate gradients, stabilised (van der Vorst 1992): two products, scalars beside the vectors.
loop_seconds cusparse_bicgstab(const coo<double>& a, index_t iterations);
/// GMRES(restart), Gram and Schmidt's way twice over (four dense products an iteration), the first `iterations` of it.
loop_seconds cusparse_gmres(const coo<double>& a, index_t restart, index_t iterations);

} // namespace furrow::bench
