// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace furrow {

/// The head of a Matrix Market file.
struct matrix_header {
  enum class layout { coordinate, array } layout = layout::coordinate;
  enum class field { real, integer, pattern } field = field::real;
  enum class symmetry { general, symmetric, skew_symmetric } symmetry = symmetry::general;
  shape2 shape;
  index_t stored = 0; ///< entries that the file holds
};

/// A matrix with what came with it.
struct problem {
  coo<double> a;
  std::optional<host_array<double>> b; ///< the right-hand side stored beside the matrix (SuiteSparse NAME_b.mtx)
  std::string name;                    ///< without folder and ending
  std::string origin;                  ///< one line on what was read: format, field, symmetry, or the generator
};

/// Reads `.mtx`, `.mtx.gz`, a SuiteSparse `.tar.gz` or `.furrow`, told apart by their content, not by their name.
/// Matrix Market: coordinate and array; real, integer and pattern; general, symmetric and skew-symmetric, expanded to
/// both triangles. Duplicates are summed in the order of the file, explicit zeros kept.
/// Parallel over chunks of the mapped file. Peak memory: 16 bytes a stored entry and 12 bytes a final one.
/// Throws `fault::input` with "FILE:LINE: what is wrong" for every malformed file, `fault::memory` before allocating
/// what cannot be had. The result does not depend on the number of threads.
problem read_matrix(const std::filesystem::path& file);

/// Only the head: nothing but the first lines of the file is read.
matrix_header read_header(const std::filesystem::path& file);

/// Peak bytes of host memory that `read_matrix` allocates for a file with this head.
double estimate_read_memory(const matrix_header& head);

/// A dense vector: a Matrix Market array of n x 1, a coordinate file of n x 1, or plain numbers, one a line.
host_array<double> read_vector(const std::filesystem::path& file);

/// Writes `coordinate real general` (or `symmetric`: the lower triangle, when `a` is), shortest digits that read back
/// as the same bits. Written beside the target first and renamed, so a reader never sees half a file.
void write_matrix(const coo<double>& a, const std::filesystem::path& file, std::string_view comment = {});
void write_vector(cview<double> x, const std::filesystem::path& file);

/// The binary cache: header, version, checksum; mapped back at the speed of the disk. Endings: `.furrow`.
void write_cache(const problem& p, const std::filesystem::path& file);

} // namespace furrow
