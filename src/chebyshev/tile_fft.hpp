// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "packs.hpp"

namespace furrow::chebyshev {

/// v_j = sum_k x_k e^(2 pi i j k / n) for tile_lanes sequences at once, one complex pack a number; n has no prime
/// factor beyond 5. Exchanging the parts of all numbers gives the other sign. Stockham's form: no reordering, all loops
/// along memory.
class tile_fft {
public:
  explicit tile_fft(index_t n);
  index_t size() const { return roots_.size(); }
  double bytes() const { return double(roots_.byte_count()); }

  /// x is overwritten; the result is in x where stays(), else in room.
  double* run(double* x, double* room) const;
  bool stays() const { return stages_ % 2 == 0; }

private:
  host_array<complex_number> roots_;
  int radices_[64];
  int stages_ = 0;
};

} // namespace furrow::chebyshev
