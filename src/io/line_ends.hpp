// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "byte_stream.hpp"

#include <string>
#include <string_view>

/// Lines end with LF or CR LF. In a text whose first line ends with CR alone, as on a Macintosh before 2001, every CR
/// ends a line too. Elsewhere a CR between two words is refused: it may be meant as a line end, but is none.
namespace furrow::io {

/// Whether the first line of a text, of which `beginning` is the first KiB or more, ends with CR alone.
bool ends_lines_with_returns(std::string_view beginning);

/// The text of a stream, with LF for CR LF and for CR where its first line ends with CR alone; otherwise as it is.
class line_feeds final : public byte_stream {
public:
  explicit line_feeds(byte_stream& in) : in_(in) {}
  std::size_t read(char* to, std::size_t wanted) override;
  /// Whether it is so, once something has been read.
  bool ends_with_returns() const { return returns_; }

private:
  void look();
  std::size_t next(char* to, std::size_t wanted);
  std::size_t convert(char* text, std::size_t size);

  byte_stream& in_;
  std::string first_;     ///< what was looked at
  std::size_t given_ = 0; ///< of it
  bool looked_ = false, returns_ = false, after_return_ = false;
};

/// Whether a CR stands between two words of a line.
bool has_inner_return(std::string_view line);
inline constexpr const char* about_inner_return =
    "a carriage return stands inside the line; where it is meant as a line end, convert the file: tr '\\r' '\\n'";

} // namespace furrow::io
