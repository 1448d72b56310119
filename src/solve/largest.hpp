// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// The largest |v_i| of a vector in the memory of the current GPU; not finite where an element is not. One pass, waits.
template <class V> double largest_on_gpu(cview<V> v);

} // namespace furrow
