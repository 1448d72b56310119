// SPDX-License-Identifier: BSD-3-Clause
#include "row_error.hpp"

#include <algorithm>

namespace furrow::kit {
namespace {
double worst = 0;
}

double worst_row_error() { return worst; }
void note_row_error(double error) { worst = std::max(worst, error); }

} // namespace furrow::kit
