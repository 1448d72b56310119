// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <string>

namespace furrow {

/// Numbers as a person reads them.
std::string count_text(index_t n);        ///< 1,234,567
std::string bytes_text(double bytes);     ///< 1.23 GB
std::string seconds_text(double seconds); ///< 12.3 ms, 4.56 s, 2 min 5 s

} // namespace furrow
