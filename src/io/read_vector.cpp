// SPDX-License-Identifier: BSD-3-Clause
#include "commented_vector.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace furrow {
namespace {

using namespace io;

/// Numbers, one a line, without a head.
host_array<double> read_plain(input& from, packing packed) {
  const auto in = unpacked(packed, from.open_for_good(), from.name());
  const std::string& name = from.name();
  matrix_header head;
  head.layout = matrix_header::layout::array;
  head.stored = std::numeric_limits<index_t>::max();
  host_array<char> text(1 << 20);
  host_array<double> out;
  scratch room;
  index_t held = 0, size = 0, line = 0;
  for (bool ended = false; !ended;) {
    if (text.size() < held + (1 << 19)) {
      host_array<char> larger(2 * text.size());
      std::memcpy(larger.data(), text.data(), static_cast<std::size_t>(held));
      text = std::move(larger);
    }
    const index_t wanted = text.size() - held - 128;
    const auto got = static_cast<index_t>(in->read_all(text.data() + held, static_cast<std::size_t>(wanted)));
    held += got;
    ended = got < wanted;
    if (ended && held > 0 && text[held - 1] != '\n') text[held++] = '\n';
    index_t cut = held;
    while (cut > 0 && text[cut - 1] != '\n') --cut;
    index_t count = 0;
    room.reserve(head, cut);
    if (!parse_lines(head, text.data(), text.data() + cut, room, count)) {
      const char* p = text.data();
      for (;; ++line) {
        const char* const end = std::find(p, static_cast<const char*>(text.data() + cut), '\n');
        require(end != text.data() + cut, "a line was refused, but nothing is wrong with it");
        const line_report report = explain_line(head, {p, static_cast<std::size_t>(end - p)});
        if (!report.wrong.empty()) refuse(name, line + 1, report.wrong);
        p = end + 1;
      }
    }
    line += std::count(text.data(), text.data() + cut, '\n');
    if (out.capacity() < size + count) {
      host_array<double> larger(std::max(2 * out.capacity(), size + count));
      if (size) std::memcpy(larger.data(), out.data(), static_cast<std::size_t>(size) * sizeof(double));
      out = std::move(larger);
    }
    out.resize(size + count);
    if (count) std::memcpy(out.data() + size, room.val.data(), static_cast<std::size_t>(count) * sizeof(double));
    size += count;
    std::memmove(text.data(), text.data() + cut, static_cast<std::size_t>(held - cut));
    held -= cut;
  }
  return out;
}

/// The comments among the first lines of a text, without the banner.
std::vector<std::string> leading_comments(std::string_view text) {
  std::vector<std::string> comments;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.starts_with("%%")) continue;
    if (line.starts_with('%')) comments.emplace_back(line.substr(1, line.find_last_not_of(" \t\r")));
    else if (!line.empty()) break;
  }
  return comments;
}

} // namespace

io::commented_vector io::read_commented_vector(const source& from) {
  input& in = from.opened();
  return read_unchanged(in, [&]() -> commented_vector {
    const content what = recognise(in);
    if (what.kind != content::kind::text) refuse(in.name(), "a matrix or an archive, where a vector is wanted");
    std::string first(4096, '\0');
    first.resize(unpacked(what.packed, in.open(), in.name())->read_all(first.data(), first.size()));
    return {has_banner(first) ? as_vector(read_entries(in, what.packed), in.name()) : read_plain(in, what.packed),
            leading_comments(first)};
  });
}

host_array<double> read_vector(const source& from) { return io::read_commented_vector(from).values; }

} // namespace furrow
