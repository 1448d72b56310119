// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>
#include <furrow/storage_order.hpp>

namespace furrow {

/// Y <- alpha A X + beta Y for `vectors` vectors in the memory of A, x and y in the same order. Where A multiplies
/// blocks, up to 16 vectors take one pass over it: those that do not lie row by row, or are another number than 2, 4, 8
/// or 16, are copied there and back. One after another where that would cost more than the passes it saves. The same
/// bits for every number of threads, not those of one vector alone.
template <class V>
void apply_several(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors,
                   storage_order order);

#if FURROW_HAS_GPU
/// For an A on a GPU; enqueued.
template <class V>
void apply_several_on_gpu(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors,
                          storage_order order);
#endif

} // namespace furrow
