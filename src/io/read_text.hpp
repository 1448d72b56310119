// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entries.hpp"

namespace furrow::io {

/// What a file is, by its first bytes.
enum class content { text, gzip_text, tar, gzip_tar, cache };
content recognise(const std::filesystem::path& file);

/// Refuses a file that is none of Furrow's, and says what it looks like.
[[noreturn]] void refuse_unknown(std::string_view text, const std::string& file);

/// Reads from `in` until the head is complete and returns what has been read. `text_bytes`: how long the text is, or a
/// bound of it.
std::string read_ahead(byte_stream& in, double text_bytes, const std::string& name, head_lines& lines);

/// All entries of a Matrix Market text in a stream, or in a file of its own.
entries read_entries(byte_stream& in, double text_bytes, const text_origin& origin);
entries read_entries(const std::filesystem::path& file, content what);

/// Bytes of text that a gzip file can hold at most.
double text_bound(const std::filesystem::path& file);

/// Entries of an n x 1 matrix as a dense vector; positions without an entry are 0. Refuses other shapes.
host_array<double> as_vector(entries&& e, const std::string& name);

/// A whole problem out of an archive, or the head of its matrix.
problem read_archive(const std::filesystem::path& file, content what);
matrix_header read_archive_header(const std::filesystem::path& file, content what);

/// The binary cache (cache.cpp).
bool is_cache(std::string_view first_bytes);
problem read_cache(const std::filesystem::path& file);
matrix_header read_cache_header(const std::filesystem::path& file);

} // namespace furrow::io
