// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow::lu {

/// Two numbers side by side, those of two vectors at the same place: loops over factors that are written for a number
/// take them as they are, at nearly the price of one, for most of it is reading indices and entries.
using two = double __attribute__((vector_size(16)));

inline bool is_zero(double v) { return v == 0; }
inline bool is_zero(two) { return false; } // asking costs more than it saves: columns of the identity come alone

} // namespace furrow::lu
