// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solve.hpp>

#include <string>

namespace furrow {

/// A report as it travels between ranks of the same build, whole; and back.
std::string bytes_of_report(const solve_report& r);
solve_report report_of_bytes(const std::string& bytes);

} // namespace furrow
