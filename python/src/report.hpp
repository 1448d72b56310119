// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "support.hpp"

#include <furrow/solve.hpp>

namespace furrow::python {

/// All that a report says, as what Python can keep, print and pickle. There and back again nothing is lost.
nb::dict dict_of(const solve_report& r);
solve_report report_of(const nb::dict& d);

} // namespace furrow::python
