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
/// both triangles. Duplicates are summed in the order of the file, explicit zeros kept, every position of an array
/// kept. Parallel over pieces of the mapped file. Peak memory: 24 bytes an entry of a general matrix, 16 a stored and
/// 12 a final entry of a symmetric one, and 4 bytes a row. The result does not depend on the number of threads. Throws
/// `fault::input` with "FILE:LINE: what is wrong" for every malformed file, `fault::memory` before allocating what
/// cannot be had. What is accepted, in detail: docs/reading.md.
problem read_matrix(const std::filesystem::path& file);

/// Only the head: nothing but the first lines of the file is read (of an archive, what stands before its matrix).
/// Throws as `read_matrix`. A `.furrow` file is coordinate, real, general.
matrix_header read_header(const std::filesystem::path& file);

/// Peak bytes of host memory that `read_matrix` takes for a text with this head; of a symmetric matrix, with all of its
/// diagonal stored. Within 10% for large files.
double estimate_read_memory(const matrix_header& head);

/// A dense vector: a Matrix Market file of n x 1 or of the object `vector`, plain numbers, one a line, or a NumPy array
/// (.npy) of one axis or n x 1; in gzip too. `rows`: of the matrix that it belongs to; a vector of another length is
/// refused as soon as the file shows it, and no more is read and no memory taken. Throws as `read_matrix`.
host_array<double> read_vector(const std::filesystem::path& file, std::optional<index_t> rows = {});

/// Writes `coordinate real general` (or `symmetric`: the lower triangle, when `a` is), shortest digits that read back
/// as the same bits; compressed where the name ends with `.gz`. Written beside the target first and renamed, so that a
/// reader never sees half a file. Throws `fault::input`, "FILE: ...", where the system refuses, and as
/// `check_triplets`. `comment`: lines.
void write_matrix(const coo<double>& a, const std::filesystem::path& file, std::string_view comment = {});
void write_vector(cview<double> x, const std::filesystem::path& file);

/// The binary cache, for `read_matrix`: header, version, checksums, layout in docs/reading.md. Ending: `.furrow`.
/// Throws as `write_matrix`, and `fault::usage` for a right-hand side without an element a row.
void write_cache(const problem& p, const std::filesystem::path& file);

} // namespace furrow
