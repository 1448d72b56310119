// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>
#include <furrow/view.hpp>

#include <string>
#include <string_view>

namespace furrow::io {

/// "FILE: what is wrong", for a file that is wrong as a whole.
[[noreturn]] inline void refuse(const std::string& file, const std::string& what) {
  throw error(fault::input, file + ": " + what);
}

/// "FILE:LINE: what is wrong".
[[noreturn]] inline void refuse(const std::string& file, index_t line, const std::string& what) {
  throw error(fault::input, file + ":" + std::to_string(line) + ": " + what);
}

/// `text` in quotes, fit for one line of a message: short, and without characters that do not print.
inline std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 40)) out += c >= ' ' && c < '\x7f' ? c : '?';
  return out + (text.size() > 40 ? "...'" : "'");
}

} // namespace furrow::io
