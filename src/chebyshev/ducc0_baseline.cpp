// SPDX-License-Identifier: BSD-3-Clause
#include "ducc0_plan.hpp"

#if FURROW_DUCC0_VECTORS
#define DUCC0_NO_SIMD // the standard library's vectors must not be shared by the linker with those of ducc0_avx2.cpp
#endif
#define DUCC0_NAMESPACE ducc0_baseline
#include "ducc0_plan_of.hpp"

namespace furrow::chebyshev {

ducc0_pointer ducc0_baseline_plan(index_t n) { return std::make_unique<plan>(n); }

} // namespace furrow::chebyshev
