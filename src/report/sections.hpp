// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "html.hpp"

#include <furrow/report.hpp>

namespace furrow::report {

/// What all sections of a report are made from.
struct subject {
  const solve_report& r;
  const solve_options& options;
  const report_context& context;
};

void add_verdict(html& page, const subject& s);
void add_convergence(html& page, const subject& s);
void add_choice(html& page, const subject& s);
void add_matrix(html& page, const subject& s);
void add_speed(html& page, const subject& s);
void add_environment(html& page, const subject& s);

/// An SVG file as a part of a page: its title is what it is called where it cannot be seen.
std::string inlined(const std::string& svg);

} // namespace furrow::report
