// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <variant>

namespace furrow {

/// Row or column numbers, from 0 on, as a program has them: 32 or 64 bits wide, with or without a sign, in whatever a
/// `cview` can be made of.
using index_view = std::variant<cview<int>, cview<unsigned>, cview<long>, cview<unsigned long>, cview<long long>,
                                cview<unsigned long long>>;

/// The matrix of these triplets: A[rows[k], cols[k]] += values[k], for triplets in any order. Those that share a place
/// are added in double, in the order in which they are given; NaN stays NaN, zeros stay entries.
/// Parallel: a check, and a counting sort of the rows unless they come sorted; the same bits for any number of threads.
/// Peak memory beside the arguments: 16 bytes a triplet, 4 more for each of rows and cols that is not of `int`, 8 more
/// for values in float; 4 bytes a row and thread. Of a matrix with far fewer triplets than rows 40 bytes a triplet.
/// Throws `fault::input` where a side is below 0 or beyond 2^31 - 1, where the three are not of one length, for a
/// triplet outside the matrix, of which it names the first ("triplet 17 is (5, 9) in a matrix of 4 x 4"), and for a sum
/// beyond the range of float; `fault::memory` before it takes what cannot be had.
coo<double> assemble(shape2 shape, index_view rows, index_view cols, cview<double> values);
coo<float> assemble(shape2 shape, index_view rows, index_view cols, cview<float> values);

} // namespace furrow
