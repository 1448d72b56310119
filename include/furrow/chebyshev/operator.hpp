// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/series.hpp>
#include <furrow/coo.hpp>
#include <furrow/operator.hpp>

#include <cstdint>

/// Functions of a symmetric matrix through Chebyshev series: no factorisation, products only.
namespace furrow::chebyshev {

/// A symmetric operator, and the device on which it and all vectors lie: `a.where()`, which is checked. `centred`: `a`
/// is A - m I, where m is the middle of the interval on which series live (see `centre`), and products bring the shift
/// with them; otherwise the passes beside them do.
template <class V> struct symmetric_operator {
  const any_operator<V>& a;
  device where{};
  bool centred = false;
};

/// An interval that holds all eigenvalues of a symmetric matrix (S. Gershgorin 1931). One pass over the triplets,
/// and a look whether they are symmetric. A millionth of its size wider at each end; of a matrix of zeros [-1, 1].
/// Throws `fault::usage` for a matrix that is not square or has no rows, `fault::input` for one that is not symmetric,
/// for values that are not finite, or whose sums are not, and as `check_triplets`.
template <class V> interval gershgorin(const coo<V>& a);

/// A narrower one: Lanczos' process from a fixed random vector, its extreme values moved out by their residuals, by at
/// least a hundredth of the width, and no further than `outer`, which must hold the spectrum. An estimate: a part of
/// the spectrum that the vector does not see would be missed; where the process ends early, `outer` is what is known.
/// `steps` products fused with a dot, two vectors more a step; waits once. The operator must not be centred. Throws
/// `fault::usage` where the process sees eigenvalues outside of `outer`. Y. Zhou, R.-C. Li, Bounding the spectrum of
/// large Hermitian matrices, 2011.
template <class V>
interval lanczos_bounds(const symmetric_operator<V>& a, interval outer, index_t steps = 40, std::uint64_t seed = 1);

/// A - middle(on) I, with all of the diagonal stored. For `symmetric_operator::centred`. Throws `fault::usage` for a
/// matrix that is not square, and as `check_triplets`.
template <class V> coo<V> centre(coo<V> a, interval on);

/// y = p(A) x, where the spectrum of A lies in p.on; outside of it the recurrence grows exponentially.
/// x, y: `vectors` columns of n values one after another, not overlapping.
/// Cost of a degree: a product that updates y, which is the recurrence itself, and half a pass (one for two degrees) of
/// four vectors where the operator is centred, otherwise of five. Allocates two vectors. Enqueues only; the same bits
/// on every run with the same build and device. Throws `fault::usage` for sizes that do not fit, memory that x and y
/// share, a device that is not the operator's, an interval whose width has no reciprocal in V, a series that
/// `check_series` refuses. Y. Saad, Numerical Methods for Large Eigenvalue Problems, 2nd ed., section 4.4.
template <class V>
void apply(const series& p, const symmetric_operator<V>& a, cview<V> x, view<V> y, index_t vectors = 1);

/// Bytes that a degree of `apply` moves.
template <class V> double bytes_per_degree(const symmetric_operator<V>& a);

/// exp(t lambda) on an interval: `apply` makes exp(t A) x of it. Errors are relative to the largest value.
/// Throws `fault::usage` where that leaves the range of double.
series exponential(double t, interval on, double tolerance = 0x1p-52);

/// 1 inside [low, high] and 0 outside, smoothed by Jackson's kernel over about pi half-widths / degree, without
/// overshoot: a filter for the eigenvectors of a part of the spectrum.
series window(double low, double high, interval on, index_t degree);

} // namespace furrow::chebyshev
