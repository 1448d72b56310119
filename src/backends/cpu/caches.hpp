// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow {

/// Bytes of the last-level cache of the host; 32 MiB where the system does not say.
double last_level_cache();
/// Bytes of the second-level cache of one core of the host; 1 MiB where the system does not say.
double second_level_cache();

} // namespace furrow
