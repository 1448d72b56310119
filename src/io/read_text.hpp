// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "commented_vector.hpp"
#include "entries.hpp"
#include "unpack/unpack.hpp"

namespace furrow::io {

/// What a file is, by its first bytes; `kind` is that of the bytes inside where it is packed.
struct content {
  packing packed = packing::none;
  enum class kind { text, tar, cache, petsc } kind = kind::text;
};
/// A pipe that brings an archive or a cache is spooled: those are not read from front to back.
content recognise(input& from);

/// Refuses a file that is none of Furrow's, and says what it looks like.
[[noreturn]] void refuse_unknown(std::string_view text, const std::string& file);
/// What a file of another kind is, by its first bytes, and what to do with it; empty where it may be text.
std::string foreign_kind(std::string_view first_bytes);

/// Reads from `in` until the head is complete and returns what has been read. `text_bytes`: how long the text is, or a
/// bound of it.
std::string read_ahead(byte_stream& in, double text_bytes, const std::string& name, head_lines& lines,
                       object wanted = object::matrix);

/// All entries of a Matrix Market text in a stream, or in an input of its own.
entries read_entries(byte_stream& in, double text_bytes, const std::string& name);
entries read_entries(input& from, packing packed, object wanted = object::matrix);

/// The name of a matrix: that of its file without folder and endings; and one line on what was read.
std::string plain_name(const std::filesystem::path& file);
std::string origin_of_text(const matrix_header& head);

/// Bytes of text that an input can hold at most.
double text_bound(const input& from, packing packed);

/// Refuses, before memory is taken, an n x 1 matrix of which the dense vector cannot be had.
void check_vector_memory(const matrix_header& head, const std::string& name);
/// Entries of an n x 1 matrix as a dense vector; positions without an entry are 0. Refuses other shapes.
host_array<double> as_vector(entries&& e, const std::string& name);

/// An array of NumPy (.npy), of real numbers or integers, of one axis or n x 1. `bytes`: of the stream, or a bound of
/// it. Throws fault::input where it is another one, or has not `rows` elements.
bool is_numpy(std::string_view first_bytes);
/// `columns`: where it may have several, how many it has; they come one behind the other.
/// `to`: who gets the numbers of one column, in place of the answer; null: nobody.
host_array<double> read_numpy(byte_stream& in, double bytes, const std::string& name, std::optional<index_t> rows,
                              index_t* columns, const number_sink* to = nullptr);
/// Refuses a vector of `size` elements where one of `rows` is wanted.
void check_size(index_t size, std::optional<index_t> rows, const std::string& name);

/// A whole problem out of an archive, or the head of its matrix.
problem read_archive(input& from, packing packed);
matrix_header read_archive_header(input& from, packing packed);

/// The binary cache (cache.cpp).
bool is_cache(std::string_view first_bytes);
problem read_cache(const input& from);
matrix_header read_cache_header(const input& from);

/// A binary file of PETSc (petsc_layout.hpp): a matrix, perhaps with a right-hand side behind it, or a vector.
problem read_petsc(input& from, packing packed);
matrix_header read_petsc_header(input& from, packing packed);
host_array<double> read_petsc_vector(input& from, packing packed, std::optional<index_t> rows,
                                     const number_sink* to = nullptr);

} // namespace furrow::io
