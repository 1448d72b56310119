// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace furrow {
namespace {

using namespace io;

constexpr index_t padding = 128; ///< a line end, and bytes that the scanners may read
constexpr index_t batch_bytes = index_t(1) << 20;

/// The lines of a text behind its head, one number or one entry of a vector each, batch by batch.
class vector_lines {
public:
  vector_lines(byte_stream& in, std::string_view ahead, const head_lines& lines, const text_origin& origin)
      : in_(in), lines_(lines), origin_(origin) {
    ahead.remove_prefix(std::min(lines.length, ahead.size()));
    held_ = static_cast<index_t>(ahead.size());
    text_ = host_array<char>(held_ + batch_bytes);
    std::copy(ahead.begin(), ahead.end(), text_.begin());
  }

  /// Reads on. False at the end.
  bool next() {
    if (ended_) return false;
    make_room();
    const index_t wanted = text_.size() - held_ - padding;
    const auto got = static_cast<index_t>(in_.read_all(text_.data() + held_, static_cast<std::size_t>(wanted)));
    held_ += got;
    ended_ = got < wanted;
    if (ended_ && held_ > 0 && text_[held_ - 1] != '\n') text_[held_++] = '\n';
    parse(std::string_view(text_.data(), static_cast<std::size_t>(held_)).rfind('\n') + 1);
    return true;
  }
  bool ended() const { return ended_; }
  /// What the last call of next() has read.
  const scratch& entries() const { return room_; }
  index_t count() const { return count_; }
  /// How many entries there were before.
  index_t before() const { return before_; }
  /// Says what is wrong with the text: a line, or how many there are.
  [[noreturn]] void explain() const { diagnose(origin_, lines_, static_cast<index_t>(lines_.length), 0, false, false); }

private:
  void make_room() {
    if (text_.size() >= held_ + batch_bytes / 2) return;
    if (held_ > longest_line) refuse(origin_.name, "a line is longer than 64 MiB");
    host_array<char> larger(2 * text_.size());
    std::memcpy(larger.data(), text_.data(), static_cast<std::size_t>(held_));
    text_ = std::move(larger);
  }

  void parse(std::size_t size) {
    const auto cut = static_cast<index_t>(size); // behind the last line end
    before_ += count_;
    room_.reserve(lines_.head, lines_.one_index, cut);
    if (!parse_lines(lines_.head, lines_.one_index, text_.data(), text_.data() + cut, room_, count_)) explain();
    body_ += cut;
    if (static_cast<double>(body_) > longest_body(static_cast<double>(before_ + count_)))
      refuse_long_body(origin_.name, before_ + count_);
    held_ -= cut;
    std::memmove(text_.data(), text_.data() + cut, static_cast<std::size_t>(held_));
  }

  byte_stream& in_;
  const head_lines& lines_;
  const text_origin& origin_;
  host_array<char> text_;
  scratch room_;
  index_t held_ = 0, count_ = 0, before_ = 0, body_ = 0;
  bool ended_ = false;
};

void grow(host_array<double>& x, index_t size, const std::string& name) {
  if (x.capacity() < size) {
    const index_t capacity = std::max(2 * x.capacity(), size);
    const double wanted = 8.0 * static_cast<double>(capacity), free = static_cast<double>(available_host_memory());
    check(wanted <= free, fault::memory, "{}: its numbers need {:.1f} GB of memory, of which {:.1f} GB can be had",
          name, wanted / 1e9, free / 1e9);
    host_array<double> larger(capacity);
    if (!x.empty()) std::memcpy(larger.data(), x.data(), x.byte_count());
    x = std::move(larger);
  }
  x.resize(size);
}

/// Numbers, one a line, without a head; no more than it takes to see that there are more than `rows`.
host_array<double> read_numbers(const text_origin& origin, std::optional<index_t> rows) {
  const auto in = origin.open();
  std::string ahead(3, '\0');
  ahead.resize(in->read_all(ahead.data(), ahead.size()));
  head_lines lines;
  lines.head.layout = matrix_header::layout::array;
  lines.head.stored = std::numeric_limits<index_t>::max();
  lines.length = ahead.size() - without_mark(ahead).size();
  host_array<double> x;
  vector_lines text(*in, ahead, lines, origin);
  while (text.next()) {
    const index_t size = text.before() + text.count();
    if (rows && size > *rows)
      refuse(origin.name, fmt::format("has {}{} elements, but the matrix has {} rows", text.ended() ? "" : "at least ",
                                      size, *rows));
    grow(x, size, origin.name);
    if (text.count() > 0)
      std::memcpy(x.data() + text.before(), text.entries().val.data(), static_cast<std::size_t>(text.count()) * 8);
  }
  check_size(x.size(), rows, origin.name);
  return x;
}

/// The coordinate file of the object `vector`: lines "index value", duplicates summed in their order.
host_array<double> read_coordinates(byte_stream& in, std::string_view ahead, const head_lines& lines,
                                    const text_origin& origin) {
  const index_t n = lines.head.shape.rows;
  const bool pattern = lines.head.field == matrix_header::field::pattern;
  host_array<double> x(n, 0.0);
  std::vector<bool> met(static_cast<std::size_t>(n));
  vector_lines text(in, ahead, lines, origin);
  while (text.next()) {
    if (text.before() + text.count() > lines.head.stored) text.explain();
    for (index_t k = 0; k < text.count(); ++k) {
      const index_t i = text.entries().row[k];
      const double v = pattern ? 1 : text.entries().val[k];
      x[i] = met[static_cast<std::size_t>(i)] ? x[i] + v : v;
      met[static_cast<std::size_t>(i)] = true;
    }
  }
  if (lines.counted && text.before() + text.count() < lines.head.stored) text.explain();
  return x;
}

/// A Matrix Market file: of one column, or of the object `vector`.
host_array<double> read_market(const std::filesystem::path& file, content what, std::optional<index_t> rows) {
  const text_origin origin{file.string(), [&] { return open_text(file, what); }};
  const std::string& name = origin.name;
  const auto in = origin.open();
  head_lines lines;
  const std::string ahead = read_ahead(*in, text_bound(file, what), name, lines, object::vector);
  const shape2 shape = lines.head.shape;
  if (shape.cols != 1)
    refuse(name, fmt::format("a vector has one column, this file has {} x {}", shape.rows, shape.cols));
  check_size(shape.rows, rows, name);
  check_vector_memory(lines.head, name);
  return lines.one_index ? read_coordinates(*in, ahead, lines, origin)
                         : as_vector(read_entries(file, what, object::vector), name);
}

} // namespace

host_array<double> read_vector(const std::filesystem::path& file, std::optional<index_t> rows) {
  const content what = recognise(file);
  const std::string name = file.string();
  if (what != content::text && what != content::gzip_text)
    refuse(name, "a matrix or an archive, where a vector is wanted");
  std::string first(4096, '\0');
  first.resize(open_bytes(file, what)->read_all(first.data(), first.size()));
  if (is_numpy(first)) return read_numpy(*open_bytes(file, what), text_bound(file, what), name, rows);
  if (has_banner(first)) return read_market(file, what, rows);
  if (has_late_banner(first)) refuse(name, "the banner %%MatrixMarket must be the first line: comments come behind it");
  if (const std::string kind = foreign_kind(first); !kind.empty())
    refuse(name, "neither a Matrix Market file nor numbers, one a line: it is " + kind);
  return read_numbers({name, [&] { return open_text(file, what); }}, rows);
}

} // namespace furrow
