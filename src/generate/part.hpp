// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <string>
#include <string_view>

namespace furrow {

/// Entries of rows [first, last) of the matrix of `spec`, each.
host_array<std::int32_t> generated_lengths(std::string_view spec, index_t first, index_t last);
/// Those rows, numbered from 0 on, with the columns of the whole matrix: the bits that `generate` gives them.
coo<double> generate_rows(std::string_view spec, index_t first, index_t last);
/// The line on what was made, as of `problem`.
std::string origin_of_generator(std::string_view spec);

} // namespace furrow
