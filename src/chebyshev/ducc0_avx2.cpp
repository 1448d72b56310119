// SPDX-License-Identifier: BSD-3-Clause
#include "ducc0_plan.hpp"

#if FURROW_DUCC0_VECTORS
#include "ducc0_headers.hpp"

#pragma GCC target("avx2,fma,bmi2")
// The macros that go with it: GCC has read all of a C++ file before it obeys a pragma.
#define __AVX__ 1
#define __AVX2__ 1
#define __FMA__ 1
#define DUCC0_NAMESPACE ducc0_avx2
#include "ducc0_plan_of.hpp"

namespace furrow::chebyshev {

ducc0_pointer ducc0_avx2_plan(index_t n) { return std::make_unique<plan>(n); }

} // namespace furrow::chebyshev
#endif
