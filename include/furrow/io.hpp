// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <concepts>
#include <filesystem>
#include <memory>
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

namespace io {
class input;
}

/// Where a matrix or a vector is read from, opened once: a file, a FIFO, or standard input, whose name is `-` (`./-` is
/// a file of that name). A FIFO or standard input can be read once; what `read_header` has seen of it is kept for the
/// one who reads it. A file that is written to, or gets shorter, from its opening to the end of a reading is refused.
/// Throws `fault::input`, "FILE: ...", where it is missing, a directory, not readable, or a FIFO that nobody opens for
/// writing within a second. Copies are the same source, and so is one that was moved from.
class source {
public:
  template <class Name>
  requires std::convertible_to<const Name&, std::filesystem::path> source(const Name& name) : input_(open(name)) {}

  source(const source&) = default; // and no move, which would leave nothing behind
  source& operator=(const source&) = default;

  io::input& opened() const { return *input_; } ///< for the readers

private:
  static std::shared_ptr<io::input> open(const std::filesystem::path& name);
  std::shared_ptr<io::input> input_;
};

/// Reads `.mtx`, a SuiteSparse `.tar`, a binary file of PETSc, all also compressed by gzip, bzip2, xz or zstd, or
/// `.furrow`, told apart by their content, not by their name. Matrix Market: coordinate and array; real, integer and
/// pattern; general, symmetric and skew-symmetric, expanded to both triangles. Duplicates are summed in the order of
/// the file, explicit zeros kept, every position of an array kept. Parallel over pieces of the file. Peak memory: 24
/// bytes an entry of a general matrix, 16 a stored and 12 a final entry of a symmetric one, and 4 bytes a row. The
/// result does not depend on the number of threads. Throws `fault::input` with "FILE:LINE: what is wrong" for every
/// malformed file, `fault::memory` before allocating what cannot be had. What is accepted, in detail: docs/reading.md.
problem read_matrix(const source& from);

/// Only the head: nothing but the first lines of the file is read (of an archive, what stands before its matrix).
/// Throws as `read_matrix`. A `.furrow` file is coordinate, real, general.
matrix_header read_header(const source& from);

/// Peak bytes of host memory that `read_matrix` takes for a text with this head; of a symmetric matrix, with all of its
/// diagonal stored. Within 10% for large files.
double estimate_read_memory(const matrix_header& head);
/// The same for what is read from there, which has this head: a `.furrow` file takes less than a text.
double estimate_read_memory(const source& from, const matrix_header& head);

/// A dense vector: a Matrix Market file of n x 1 or of the object `vector`, plain numbers, one a line, a NumPy array
/// (.npy) of one axis or n x 1, or a vector of PETSc; compressed too. `rows`: of the matrix that it belongs to; a
/// vector of another length is refused as soon as the file shows it, and no more is read and no memory taken. Throws as
/// `read_matrix`.
host_array<double> read_vector(const source& from, std::optional<index_t> rows = {});

/// Vectors of the same length, one behind the other.
struct vector_columns {
  host_array<double> values;
  index_t count = 1;
};

/// The same for several at once: the columns of a Matrix Market `array real general`, or of a NumPy array of two axes.
vector_columns read_vectors(const source& from, std::optional<index_t> rows = {});

/// Writes `coordinate real general` (or `symmetric`: the lower triangle, when `a` is), shortest digits that read back
/// as the same bits; compressed where the name ends with `.gz`. Written beside the target first and renamed, so that a
/// reader never sees half a file; `-` is standard output. Throws `fault::input`, "FILE: ...", where the system refuses,
/// `fault::usage` for a name that ends as another format does, and as `check_triplets`. `comment`: lines.
void write_matrix(const coo<double>& a, const std::filesystem::path& file, std::string_view comment = {});
/// By the ending: numbers in Matrix Market, of `.txt` and `.csv` alone, an array of NumPy (`.npy`), a vector of PETSc
/// (`.petsc`). Throws as `write_matrix`.
void write_vector(cview<double> x, const std::filesystem::path& file);
/// `count` vectors, one behind the other in x, as the columns of a Matrix Market array or of a NumPy array (.npy).
/// Throws `fault::usage` for other endings where there are several.
void write_vectors(cview<double> x, index_t count, const std::filesystem::path& file);

/// The binary cache, for `read_matrix`: header, version, checksums, layout in docs/reading.md. Usual ending: `.furrow`;
/// any other is taken, too. Throws as `write_matrix` but for the ending, and `fault::usage` for a right-hand side
/// without an element a row.
void write_cache(const problem& p, const std::filesystem::path& file);

/// A binary file of PETSc, as MatView writes a matrix of the type aij, with the right-hand side as VecView writes it
/// behind it: big-endian, integers of 32 bits. Usual ending: `.petsc`. Throws as `write_cache`, and `fault::usage` for
/// more than 2^31 - 1 entries.
void write_petsc(const problem& p, const std::filesystem::path& file);

} // namespace furrow
