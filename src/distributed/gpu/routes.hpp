// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/halo.hpp"

#include <vector>

namespace furrow::gpu {

/// How ranks write elements of x into each other's memory: what a halo plan says, seen from the one who writes.
///
/// Two buffers take turns there, and that is enough where everybody tells all its neighbours that it begins a product,
/// those too to whom it sends nothing, and waits for the same word of all of them before it ends one: a rank writes for
/// product t + 2 when all of them have begun t + 1, and with that have read what came for t. Nothing else has an order:
/// each word says which product it belongs to.
struct halo_routes {
  /// Elements [begin, end) of what is sent go to the buffer of a rank, from `at` on.
  struct route {
    int rank;
    index_t begin, end, at;
  };
  std::vector<route> sends;
  std::vector<int> neighbours; ///< who sends here, or gets something from here, ascending
  index_t arrive = 0;          ///< elements that come
};

/// All ranks call it.
halo_routes routes_of(communicator& c, const halo_plan& plan);

} // namespace furrow::gpu
