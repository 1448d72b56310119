// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plain_lu.hpp"

namespace furrow::lu {

/// The factors of a band as `factor_plain` leaves them, by blocks of columns: those of a block and the rows beside it
/// are brought together, for they reach out of the band, and what they take from the rest is a product of panels where
/// it lies (J. Du Croz, P. Mayes, G. Radicati, Factorizations of band matrices using Level 3 BLAS, 1990).
/// 2 n below (below + above) operations, parallel as `subtract_product` is, the same bits for every number of threads.
/// As LAPACK counts: 0, or the number of the first column without a pivot, from 1.
int factor_band_by_blocks(const plain_lu& a, int* pivots);

} // namespace furrow::lu
