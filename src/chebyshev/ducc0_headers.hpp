// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// All of the standard library that ducc0 includes, but for its vectors. It comes before a pragma that changes the
// instruction set: of what is inline here the linker keeps one copy for the whole program, which must run everywhere.
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
