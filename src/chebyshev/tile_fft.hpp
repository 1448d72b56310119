// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "unity.hpp"

namespace furrow::chebyshev {

/// Series that are transformed side by side: a vector register of doubles.
inline constexpr index_t tile_lanes = 8;

/// Real and imaginary parts of n x tile_lanes numbers.
struct tile {
  double *re, *im;
};

/// v_j = sum_k x_k e^(2 pi i j k / n) for tile_lanes sequences at once; n has no prime factor beyond 5. Swapping the
/// parts of the tiles gives the other sign. Stockham's form: no reordering, all loops along memory.
class tile_fft {
public:
  explicit tile_fft(index_t n);
  index_t size() const { return roots_.size(); }
  double bytes() const { return double(roots_.byte_count()); }

  /// x is overwritten; the result is in the tile that comes back, which is x or room.
  tile run(tile x, tile room) const;

private:
  host_array<complex_number> roots_;
  int radices_[64];
  int stages_ = 0;
};

} // namespace furrow::chebyshev
