// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bench/gemv/measure.hpp"
#include "output.hpp"

namespace furrow::cli::gemv_bench {

std::string head_text(device where, double ceiling, bool rivals);
std::string row_text(const product& m);
/// Geometric means of the rivals' times over ours.
std::string summary_text(const std::vector<product>& all);

json json_of(const product& m);
json summary_json(const std::vector<product>& all);

/// Writes gemv_f64.svg and so on into the folder: fractions of the ceiling over the shapes.
void draw(const std::string& folder, const std::string& title, const std::vector<product>& all);

} // namespace furrow::cli::gemv_bench
