// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/report.hpp>

#include <string>

namespace furrow::report {

/// The numbers of a report as one JSON object, with the keys of `furrow solve --json`; a long history is thinned to two
/// values in each of so many stretches, and "history_iterations" says which of it is kept. Fit for a <script> of HTML:
/// no letter of it ends one.
std::string data(const solve_report& r, const solve_options& options, const report_context& context,
                 std::size_t stretches);

} // namespace furrow::report
