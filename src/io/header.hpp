// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/io.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace furrow::io {

/// The first lines of a Matrix Market file: banner, comments and blank lines, size line.
struct head_lines {
  matrix_header head;
  std::size_t length = 0; ///< bytes up to the first line of the body
  index_t lines = 0;      ///< lines up to there; the size line is the last of them
};

/// Whether `text` begins like a Matrix Market file: a line of %%MatrixMarket in any case, behind any blank space and a
/// byte order mark.
bool has_banner(std::string_view text);

/// Reads the head from the beginning of a file. Empty where `text` ends too early and is not `complete`.
/// Fields: real (also `double`), integer (also `unsigned-integer`), pattern. Symmetries: general, symmetric,
/// skew-symmetric. Everything else is refused by name. Throws fault::input, "FILE:LINE: ...".
std::optional<head_lines> parse_head(std::string_view text, bool complete, const std::string& file);

/// "coordinate real symmetric", as in the banner.
std::string describe(const matrix_header& head);

/// Refuses a head that promises more entries than `text_bytes` bytes of body can hold.
void check_promise(const head_lines& head, double text_bytes, const std::string& file);

/// Whether the file holds one triangle and means both.
inline bool is_mirrored(const matrix_header& head) { return head.symmetry != matrix_header::symmetry::general; }

} // namespace furrow::io
