// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "input.hpp"

#include <furrow/array.hpp>

#include <string>
#include <string_view>

namespace furrow::io {

inline constexpr index_t padding = 64; ///< readable bytes behind every text that is scanned
inline constexpr index_t longest_line = index_t(1) << 26;
[[noreturn]] void refuse_long_line(const std::string& file);

/// The lines of a file piece by piece, for one thread, in memory that is used again.
class line_window {
public:
  line_window(const input& file, index_t body) : file_(file), body_(body) {}

  /// The lines that begin in [from, to), complete, with a line end behind the last one, and readable beyond. Empty
  /// where none begins there.
  std::string_view lines(index_t from, index_t to);
  /// Where in the file a byte of them is.
  index_t place(const char* p) const { return start_ + (p - text_.data()); }

private:
  void fetch(index_t end);
  const char* find(index_t from, index_t to) const;

  const input& file_;
  index_t body_, start_ = 0, held_ = 0; ///< text_ holds `held_` bytes of the file from `start_` on
  host_array<char> text_;
};

} // namespace furrow::io
