// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/report.hpp"

#include <string>

namespace furrow::picture {

/// Which lane touches what, when: a row for each lane of the traced warp and a column for each of its steps, as an SVG
/// picture. A cell has the colour of its array, darker where the lane begins another line of memory than the one before
/// it, and says its element; an empty cell is an idle lane.
std::string lanes(const play::kernel_report& report, const std::string& title);

} // namespace furrow::picture
