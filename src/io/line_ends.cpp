// SPDX-License-Identifier: BSD-3-Clause
#include "line_ends.hpp"

namespace furrow::io {
namespace {

constexpr std::size_t looked_at = 4096; ///< where the first line should have ended

} // namespace

bool ends_lines_with_returns(std::string_view beginning) {
  beginning = beginning.substr(0, looked_at);
  const std::size_t end = beginning.find_first_of("\r\n");
  if (end == std::string_view::npos) return false;
  const std::size_t behind = beginning.find_first_not_of('\r', end); // CR CR LF is one end, converted twice
  return behind != std::string_view::npos && behind > end && beginning[behind] != '\n';
}

std::size_t line_feeds::read(char* to, std::size_t wanted) {
  if (!looked_) look();
  for (;;) {
    const std::size_t got = next(to, wanted), left = returns_ ? convert(to, got) : got;
    if (left > 0 || got == 0) return left; // a piece may be nothing but the LF of a CR LF
  }
}

void line_feeds::look() {
  first_.resize(looked_at);
  first_.resize(in_.read_all(first_.data(), looked_at));
  returns_ = ends_lines_with_returns(first_);
  looked_ = true;
}

std::size_t line_feeds::next(char* to, std::size_t wanted) {
  if (given_ == first_.size()) return in_.read(to, wanted);
  const std::size_t got = first_.copy(to, wanted, given_);
  given_ += got;
  return got;
}

std::size_t line_feeds::convert(char* text, std::size_t size) {
  char* to = text;
  for (const char* p = text; p < text + size; ++p) {
    const char c = *p;
    if (!(after_return_ && c == '\n')) *to++ = c == '\r' ? '\n' : c;
    after_return_ = c == '\r';
  }
  return static_cast<std::size_t>(to - text);
}

bool has_inner_return(std::string_view line) {
  static constexpr std::string_view blanks = " \t\r\v\f";
  const std::size_t first = line.find_first_not_of(blanks), last = line.find_last_not_of(blanks);
  const std::size_t at = line.find('\r', first);
  return at != std::string_view::npos && first != std::string_view::npos && at < last;
}

} // namespace furrow::io
