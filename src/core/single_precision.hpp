// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// The power of two by which values are multiplied before they become single precision: 0 where all of them are in its
/// normal range, otherwise the one that brings the largest to [1, 2). Values that are not finite do not count.
int exponent_for_single_precision(cview<double> values);

/// The values of 2^exponent A in single precision. Throws `fault::input` and names the first entry that is too large,
/// or so small that it would vanish or lose digits while it matters: while it is more than a unit roundoff of the
/// largest entry of its row or of its column, or on the diagonal, whose signs are asked for. One pass, two more where
/// something is that small.
host_array<float> values_in_single_precision(const coo<double>& a, int exponent = 0);
/// 2^exponent A. Takes `a` to reuse its index arrays.
coo<float> to_single_precision(coo<double>&& a, int exponent = 0);

} // namespace furrow
