// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "axis_transfer.hpp"

#include <vector>

namespace furrow::amg {

/// P = P1 P2 P3 of some directions after each other, and the vectors between them. Parallel, each vector and each
/// weight once; no sums across rows, so the same bits for any number of threads.
template <class W> class grid_transfer {
public:
  explicit grid_transfer(const std::vector<axis_transfer<W>>& axes);
  /// c <- P' r.
  void restrict_to(const W* r, W* c);
  /// x <- x + P c.
  void add_prolonged(const W* c, W* x);

private:
  const std::vector<axis_transfer<W>>& axes_;
  std::vector<host_array<W>> between_;
};

} // namespace furrow::amg
