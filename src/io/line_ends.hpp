// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "byte_stream.hpp"

#include <string_view>

/// Lines end with LF or CR LF. In a text whose first line ends with CR alone, as on a Macintosh before 2001, every CR
/// ends a line too. Elsewhere a CR between two words is refused: it may be meant as a line end, but is none.
namespace furrow::io {

/// Whether the first line of a text, of which `beginning` is the first KiB or more, ends with CR alone.
bool ends_lines_with_returns(std::string_view beginning);

/// The text of a stream, with LF for CR LF and for CR where its first line ends with CR alone; otherwise as it is.
std::unique_ptr<byte_stream> with_line_feeds(std::unique_ptr<byte_stream> in);

/// Whether a CR stands between two words of a line.
bool has_inner_return(std::string_view line);
inline constexpr const char* about_inner_return =
    "a carriage return stands inside the line; where it is meant as a line end, convert the file: tr '\\r' '\\n'";

} // namespace furrow::io
