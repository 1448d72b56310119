// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/io.hpp>

#include <vector>

namespace furrow {

struct generator_info {
  std::string usage, about, example;
};
std::vector<generator_info> generators();

/// Whether `text` has the form NAME:ARGUMENTS of a generator (known or not).
bool is_generator(std::string_view text);

/// Whether `load` takes `text` for a generator: the form of one, or the bare name of one, and no file of that name.
bool means_generator(std::string_view text);

/// Makes the matrix of `spec`, e.g. "poisson3d:100". The same spec gives the same bits everywhere.
/// Throws `fault::usage` for an unknown name or arguments that do not fit, naming what would.
problem generate(std::string_view spec);

/// Where the nodes of its body are, a column a direction. Throws as `generate`, and `fault::usage` for a generator
/// whose unknowns are no displacements of nodes.
vector_columns generator_coordinates(std::string_view spec);

/// Rows and an exact or upper count of entries of `spec`, without making it.
matrix_header generator_header(std::string_view spec);

/// A file or a generator: `read_matrix` or `generate`.
problem load(std::string_view file_or_spec);
matrix_header load_header(std::string_view file_or_spec);

} // namespace furrow
