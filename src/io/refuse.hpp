// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/printable.hpp"

#include <furrow/error.hpp>
#include <furrow/view.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace furrow::io {

/// "FILE: what is wrong", for a file that is wrong as a whole.
[[noreturn]] inline void refuse(const std::string& file, const std::string& what) {
  throw error(fault::input, printable(file) + ": " + what);
}

/// "FILE:LINE: what is wrong".
[[noreturn]] inline void refuse(const std::string& file, index_t line, const std::string& what) {
  throw error(fault::input, printable(file) + ":" + std::to_string(line) + ": " + what);
}

/// `text` in quotes, fit for one line of a message: printable, and of 40 bytes at most.
inline std::string in_quotes(std::string_view text) {
  std::size_t end = std::min<std::size_t>(text.size(), 40);
  for (int k = 0; k < 3 && end < text.size() && (text[end] & '\xC0') == '\x80'; ++k) --end; // between letters
  std::string out = "'";
  out += printable(text.substr(0, end));
  return out += end < text.size() ? "...'" : "'";
}

} // namespace furrow::io
