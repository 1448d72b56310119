// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <functional>

namespace furrow::chebyshev {

/// What to call for the two transforms of a product of `points` points and nothing else: what they cost at least.
std::function<void()> bare_transforms_on_cpu(index_t points);
#if FURROW_HAS_GPU
std::function<void()> bare_transforms(index_t points);
#endif

} // namespace furrow::chebyshev
