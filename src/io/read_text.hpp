// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entries.hpp"
#include "unpack/unpack.hpp"

namespace furrow::io {

/// What a file is, by its first bytes; `kind` is that of the bytes inside where it is packed.
struct content {
  packing packed = packing::none;
  enum class kind { text, tar, cache } kind = kind::text;
};
/// A pipe that brings an archive or a cache is spooled: those are not read from front to back.
content recognise(input& from);

/// Refuses a file that is none of Furrow's, and says what it looks like.
[[noreturn]] void refuse_unknown(std::string_view text, const std::string& file);

/// Reads from `in` until the head is complete and returns what has been read. `text_bytes`: how long the text is, or a
/// bound of it.
std::string read_ahead(byte_stream& in, double text_bytes, const std::string& name, head_lines& lines);

/// All entries of a Matrix Market text in a stream, or in an input of its own.
entries read_entries(byte_stream& in, double text_bytes, const std::string& name);
entries read_entries(input& from, packing packed);

/// Bytes of text that an input can hold at most.
double text_bound(const input& from, packing packed);

/// Entries of an n x 1 matrix as a dense vector; positions without an entry are 0. Refuses other shapes.
host_array<double> as_vector(entries&& e, const std::string& name);

/// A whole problem out of an archive, or the head of its matrix.
problem read_archive(input& from, packing packed);
matrix_header read_archive_header(input& from, packing packed);

/// The binary cache (cache.cpp).
bool is_cache(std::string_view first_bytes);
problem read_cache(const input& from);
matrix_header read_cache_header(const input& from);

} // namespace furrow::io
