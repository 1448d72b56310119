// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/product.hpp>

/// Lengths: what is wanted, and how long a transform must be. Pure integers.
namespace furrow::chebyshev {

/// One product: lengths of the factors, coefficients wanted, and of those the ones that can differ from 0.
struct product_shape {
  index_t na = 0, nb = 0, keep = 0;
  FURROW_HD index_t all() const { return na + nb - 1; }
  FURROW_HD index_t nonzero() const { return keep < all() ? keep : all(); }
};

/// Points of a transform that gives the wanted coefficients. Sampling at M Chebyshev points takes T_{2M-k} for -T_k, so
/// all coefficients need M >= na + nb - 1, and the first `keep` are clean from 2 M >= na + nb - 2 + keep on. The
/// factors themselves must fit.
inline index_t points_needed(const product_shape& s) {
  const index_t clean = (s.all() - 1 + s.nonzero() + 1) / 2, factor = s.na > s.nb ? s.na : s.nb;
  return clean > factor ? clean : factor;
}

/// The least number from n on that has no prime factor beyond `largest` (2, 3, 5 or 7).
index_t smooth_length(index_t n, int largest);

/// Points of a transform by cuFFT: even, and not so few that a library may refuse them.
inline index_t gpu_transform_length(index_t points) { return 2 * smooth_length(points < 16 ? 8 : (points + 1) / 2, 7); }

/// Points of a transform on the CPU: a multiple of 8, so that both transforms of a product go through vectors.
inline index_t cpu_transform_length(index_t points) { return 8 * smooth_length((points + 7) / 8, 7); }

} // namespace furrow::chebyshev
