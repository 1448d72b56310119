// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "measure.hpp"
#include "output.hpp"

#include <string>
#include <vector>

namespace furrow::cli::cg_bench {

/// The machine and what is compared, before the first matrix.
std::string head_text(device where, double ceiling);
/// A line a form, those that are left out with the reason, and what cg is worth.
std::string table_text(const outcome& o);
json json_of(const outcome& o);

/// FOLDER/cg_f64.svg: the time of an iteration over that of the tutorial's form, a group a matrix, a bar a form.
void draw(const std::string& folder, const std::string& machine, const std::vector<outcome>& all, precision values);

} // namespace furrow::cli::cg_bench
