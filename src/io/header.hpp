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
  bool one_index = false; ///< the coordinate file of a vector: n x 1, its lines without a column
  bool counted = true;    ///< the size line says how many entries there are
};

/// What a text shall be. The object `vector` is refused for a matrix, but a matrix of one column is a vector too.
enum class object { matrix, vector };

/// Whether `text` begins like a Matrix Market file: a line of %%MatrixMarket, %MatrixMarket or %% MatrixMarket in any
/// case, behind any blank space, blank lines and a byte order mark.
bool has_banner(std::string_view text);
/// Whether such a line, or the first one, stands among the comments that `text` begins with.
bool has_late_banner(std::string_view text);
/// `text` behind its byte order mark, where it has one.
std::string_view without_mark(std::string_view text);

/// Reads the head from the beginning of a file, of 64 MiB at most. Empty where `text` ends too early and is not
/// `complete`. Fields: real (also `double`), integer (also `unsigned-integer`), pattern. Symmetries: general,
/// symmetric, skew-symmetric. Everything else is refused by name. Throws fault::input, "FILE:LINE: ...".
std::optional<head_lines> parse_head(std::string_view text, bool complete, const std::string& file, object wanted);

/// "coordinate real symmetric", as in the banner.
std::string describe(const matrix_header& head);

/// Refuses a head that promises more entries than `text_bytes` bytes of body can hold.
void check_promise(const head_lines& head, double text_bytes, const std::string& file);

/// Whether the file holds one triangle and means both.
inline bool is_mirrored(const matrix_header& head) { return head.symmetry != matrix_header::symmetry::general; }

} // namespace furrow::io
