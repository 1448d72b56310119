// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <vector>

namespace furrow::picture {

/// Which values draw the same curve: all of few, otherwise the smallest and the largest one of each of `stretches`
/// stretches, ascending, and the last one.
std::vector<std::size_t> thinned(const std::vector<double>& values, std::size_t stretches);

} // namespace furrow::picture
