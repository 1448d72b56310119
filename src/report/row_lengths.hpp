// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <string>
#include <vector>

namespace furrow::report {

/// Rows whose number of entries lies in [least, most].
struct length_class {
  index_t least = 0, most = 0, rows = 0;
};

/// The rows of a matrix by their lengths, from the shortest to the longest: a class for each length where these are at
/// most 16, otherwise 0, 1, 2 to 3, 4 to 7, ... One pass over the triplets, serial.
std::vector<length_class> row_lengths(const coo<double>& a, index_t shortest, index_t longest);

/// The same as a picture of bars, SVG; empty where there are no rows.
std::string draw_row_lengths(const std::vector<length_class>& classes);

} // namespace furrow::report
