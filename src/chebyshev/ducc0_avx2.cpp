// SPDX-License-Identifier: BSD-3-Clause
#include "ducc0_plan.hpp"

#if FURROW_DUCC0_AVX2
// All of the standard library that ducc0 includes, but for its vectors, comes before the pragma: the linker keeps one
// copy of what is inline there, which must run everywhere.
#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <malloc.h>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <unistd.h>
#include <utility>
#include <vector>

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
