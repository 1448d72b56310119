// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <type_traits>

/// The operations of a method that is written down line by line, each a pass of its own. Vectors lie in host memory or
/// on one GPU, all of a call in the same; their addresses say which. What `solve` runs does not call these: it makes
/// several of them in one pass and waits for none (docs/conjugate-gradients.md).
///
/// For double and float. The same bits on every run with the same build and device, on the CPU for any number of
/// threads. Throws `fault::usage` for vectors of different lengths or in different memories, naming the operation.
namespace furrow {

/// sum <- v1 + alpha v2. `sum` may be v1 or v2; what overlaps them otherwise is refused. One pass over 3 vectors. On a
/// GPU the call only enqueues.
template <class V> void add(cview<V> v1, std::type_identity_t<V> alpha, cview<V> v2, view<V> sum);

/// x . y, products and sums in double. One pass over 2 vectors. On a GPU it allocates a partial sum a block, copies
/// these home and waits.
template <class V> double dot(cview<V> x, cview<V> y);

/// The root of x . x, as `dot`; right also where x . x leaves the range of double, by a copy in host memory and a
/// second pass.
template <class V> double norm2(cview<V> x);

/// r <- b - A x: a pass over b and r, and a product. r must not overlap x; it may be b. On a GPU the call only
/// enqueues.
template <class V> void residual(const any_operator<V>& a, cview<V> b, cview<V> x, view<V> r);

} // namespace furrow
