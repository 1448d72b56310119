// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/gmres/gmres.hpp"

namespace furrow {

/// See `restarted_gmres`.
struct fgmres_method {
  template <vector_space S> using solver = restarted_gmres<S, true>;
};

} // namespace furrow
