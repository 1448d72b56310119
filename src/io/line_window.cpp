// SPDX-License-Identifier: BSD-3-Clause
#include "line_window.hpp"

#include "refuse.hpp"

#include <algorithm>
#include <cstring>

namespace furrow::io {

void refuse_long_line(const std::string& file) { refuse(file, "a line is longer than 64 MiB"); }

std::string_view line_window::lines(index_t from, index_t to) {
  start_ = std::max<index_t>(from - 1, 0) / padding * padding; // as the pages of the file lie
  held_ = 0;
  to = std::min(to, file_.size());
  constexpr index_t lookahead = 192; // a line that begins in a piece mostly ends by then
  fetch(to + lookahead);
  index_t first = body_;
  if (from > body_) {
    const char* const end = find(from - 1, to - 1);
    if (!end) return {};
    first = place(end) + 1;
  }
  const char* stop = find(to - 1, start_ + held_);
  while (!stop && start_ + held_ < file_.size()) {
    const index_t seen = start_ + held_;
    if (held_ > longest_line) refuse_long_line(file_.name());
    fetch(seen + held_);
    stop = find(seen, start_ + held_);
  }
  if (!stop) text_[held_] = '\n', stop = text_.data() + held_;
  return {text_.data() + (first - start_), static_cast<std::size_t>(place(stop) + 1 - first)};
}

/// Brings in what stands before byte `end` of the file.
void line_window::fetch(index_t end) {
  const index_t wanted = std::min(end, file_.size()) - start_;
  if (text_.size() < wanted + 1 + padding) text_.extend(wanted + 1 + padding);
  const auto more = static_cast<std::size_t>(wanted - held_);
  if (file_.read_at(text_.data() + held_, more, start_ + held_) < more) file_.refuse_changed();
  held_ = wanted;
  std::memset(text_.data() + held_, 0, static_cast<std::size_t>(padding) + 1);
}

/// The first line end in [from, to) of the file.
const char* line_window::find(index_t from, index_t to) const {
  if (to <= from) return nullptr;
  return static_cast<const char*>(
      std::memchr(text_.data() + (from - start_), '\n', static_cast<std::size_t>(to - from)));
}

} // namespace furrow::io
