// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// The least entries of a thread's part in a pass of a set-up. One thread is done with them in some 100 us; a second
/// one that has begun and then loses its processor to other work keeps everybody waiting for a time slice, 4 ms.
inline constexpr index_t set_up_part = index_t(1) << 17;

} // namespace furrow
