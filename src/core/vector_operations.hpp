// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

/// The GPU's share of furrow/vector_operations.hpp: vectors on the current GPU, checked.
namespace furrow::unfused_on_gpu {

template <class V> void add(cview<V> v1, V alpha, cview<V> v2, view<V> sum);
template <class V> double dot(cview<V> x, cview<V> y);

} // namespace furrow::unfused_on_gpu
