// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_file.hpp"
#include "commented_vector.hpp"
#include "core/check.hpp"
#include "core/counted.hpp"
#include "core/host_room.hpp"
#include "line_ends.hpp"
#include "line_window.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace furrow {
namespace {

using namespace io;

constexpr index_t batch_bytes = index_t(1) << 20;

/// The lines of a text behind its head, one number or one entry of a vector each, batch by batch.
class vector_lines {
public:
  vector_lines(byte_stream& in, std::string_view ahead, const head_lines& lines, const std::string& name)
      : in_(in), lines_(lines), name_(name), line_(lines.lines) {
    ahead.remove_prefix(std::min(lines.length, ahead.size()));
    held_ = static_cast<index_t>(ahead.size());
    text_ = host_array<char>(held_ + batch_bytes);
    std::copy(ahead.begin(), ahead.end(), text_.begin());
  }

  /// Reads on. False at the end.
  bool next() {
    if (ended_) return false;
    make_room();
    const index_t wanted = text_.size() - held_ - 2 * padding;
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
  /// The line that was read last.
  index_t line() const { return line_; }

private:
  void make_room() {
    if (text_.size() >= held_ + batch_bytes / 2) return;
    if (held_ > longest_line) refuse_long_line(name_);
    host_array<char> larger(2 * text_.size());
    std::memcpy(larger.data(), text_.data(), static_cast<std::size_t>(held_));
    text_ = std::move(larger);
  }

  void parse(std::size_t size) {
    const auto cut = static_cast<index_t>(size); // behind the last line end
    before_ += count_;
    room_.reserve(lines_.head, lines_.one_index, cut);
    const char *const begin = text_.data(), *const end = begin + cut;
    if (!parse_lines(lines_.head, lines_.one_index, begin, end, room_, count_) ||
        before_ + count_ > lines_.head.stored) {
      memory_stream rest({begin, size});
      diagnose(name_, lines_, rest, line_ + 1, {before_});
    }
    line_ += std::count(begin, end, '\n');
    body_ += cut;
    if (static_cast<double>(body_) > longest_body(static_cast<double>(before_ + count_)))
      refuse_long_body(name_, before_ + count_);
    held_ -= cut;
    std::memmove(text_.data(), text_.data() + cut, static_cast<std::size_t>(held_));
  }

  byte_stream& in_;
  const head_lines& lines_;
  const std::string& name_;
  host_array<char> text_;
  scratch room_;
  index_t held_ = 0, count_ = 0, before_ = 0, body_ = 0, line_;
  bool ended_ = false;
};

void grow(host_array<double>& x, index_t size, const std::string& name) {
  if (x.capacity() < size) {
    const index_t capacity = std::max(2 * x.capacity(), size);
    const double wanted = 8.0 * static_cast<double>(capacity);
    if (host_room free; !free.takes(wanted))
      throw_sentence(fault::memory, "{}: its numbers need {:.1f} GB of memory, of which {:.1f} GB can be had", name,
                     wanted / 1e9, free.bytes() / 1e9);
    host_array<double> larger(capacity);
    if (!x.empty()) std::memcpy(larger.data(), x.data(), x.byte_count());
    x = std::move(larger);
  }
  x.resize(size);
}

/// Numbers, one a line, without a head; no more than it takes to see that there are more than `rows`.
host_array<double> read_numbers(byte_stream& in, const std::string& name, std::optional<index_t> rows,
                                const number_sink* to) {
  std::string ahead(3, '\0');
  ahead.resize(in.read_all(ahead.data(), ahead.size()));
  head_lines lines;
  lines.head.layout = matrix_header::layout::array;
  lines.head.stored = std::numeric_limits<index_t>::max();
  lines.length = ahead.size() - without_mark(ahead).size();
  host_array<double> x;
  vector_lines text(in, ahead, lines, name);
  while (text.next()) {
    const index_t size = text.before() + text.count();
    if (rows && size > *rows)
      refuse(name, fmt::format("has {}{}, but the matrix has {}", text.ended() ? "" : "at least ",
                               counted(size, "element"), counted(*rows, "row")));
    if (to) {
      if (text.count() > 0) (*to)(text.before(), {text.entries().val.data(), text.count()});
      continue;
    }
    grow(x, size, name);
    if (text.count() > 0)
      std::memcpy(x.data() + text.before(), text.entries().val.data(), static_cast<std::size_t>(text.count()) * 8);
  }
  check_size(text.before() + text.count(), rows, name);
  return x;
}

/// An array of one column, from front to back.
void read_array_to(byte_stream& in, std::string_view ahead, const head_lines& lines, const std::string& name,
                   const number_sink& to) {
  vector_lines text(in, ahead, lines, name);
  while (text.next())
    if (text.count() > 0) to(text.before(), {text.entries().val.data(), text.count()});
  const index_t entries = text.before() + text.count();
  if (entries < lines.head.stored) refuse_short(name, text.line(), entries, lines.head.stored);
}

/// The coordinate file of the object `vector`: lines "index value", duplicates summed in their order.
host_array<double> read_coordinates(byte_stream& in, std::string_view ahead, const head_lines& lines,
                                    const std::string& name) {
  const index_t n = lines.head.shape.rows;
  const bool pattern = lines.head.field == matrix_header::field::pattern;
  host_array<double> x(n, 0.0);
  std::vector<bool> met(static_cast<std::size_t>(n));
  vector_lines text(in, ahead, lines, name);
  while (text.next()) {
    for (index_t k = 0; k < text.count(); ++k) {
      const index_t i = text.entries().row[k];
      const double v = pattern ? 1 : text.entries().val[k];
      x[i] = met[static_cast<std::size_t>(i)] ? x[i] + v : v;
      met[static_cast<std::size_t>(i)] = true;
    }
  }
  const index_t entries = text.before() + text.count();
  if (lines.counted && entries < lines.head.stored) refuse_short(name, text.line(), entries, lines.head.stored);
  return x;
}

/// The columns of an array, one behind the other.
host_array<double> by_columns(entries&& e) {
  const shape2 shape = e.head.shape;
  const coo<double> a = assemble(std::move(e)); // every position, row by row
  host_array<double> x(shape.rows * shape.cols);
  for (index_t k = 0; k < x.size(); ++k) x[k % shape.cols * shape.rows + k / shape.cols] = a.val[k];
  return x;
}

/// A Matrix Market file: of one column, or of the object `vector`; a general array of several where `columns` asks.
host_array<double> read_market(input& from, packing packed, std::optional<index_t> rows, index_t* columns,
                               const number_sink* to) {
  const std::string& name = from.name();
  const auto with_head = [&](std::unique_ptr<byte_stream> bytes, auto use) {
    const auto in = unpacked(packed, std::move(bytes), name);
    line_feeds text(*in);
    head_lines lines;
    const std::string ahead = read_ahead(text, text_bound(from, packed), name, lines, object::vector);
    return use(text, ahead, lines);
  };
  bool from_front = false;
  const bool one_index = with_head(from.open(), [&](byte_stream&, const std::string&, const head_lines& lines) {
    const shape2 shape = lines.head.shape;
    const bool dense =
        lines.head.layout == matrix_header::layout::array && lines.head.symmetry == matrix_header::symmetry::general;
    if (shape.cols != 1 && !(columns && dense && shape.cols > 1))
      refuse(name, fmt::format("a vector has one column, this file has {} x {}{}", shape.rows, shape.cols,
                               columns ? ": several are columns of an 'array real general'" : ""));
    check_size(shape.rows, rows, name);
    matrix_header all = lines.head;
    all.shape.rows *= shape.cols;
    from_front = to && dense && shape.cols == 1;
    if (!from_front) check_vector_memory(all, name);
    if (columns) *columns = shape.cols;
    return lines.one_index;
  });
  if (from_front)
    return with_head(from.open_for_good(), [&](byte_stream& in, const std::string& ahead, const head_lines& lines) {
      read_array_to(in, ahead, lines, name, *to);
      return host_array<double>();
    });
  if (columns && *columns > 1) return by_columns(read_entries(from, packed, object::vector));
  if (!one_index) return as_vector(read_entries(from, packed, object::vector), name);
  return with_head(from.open_for_good(), [&](byte_stream& in, const std::string& ahead, const head_lines& lines) {
    return read_coordinates(in, ahead, lines, name);
  });
}

/// The x of a checkpoint, of whatever system.
host_array<double> read_x_of_checkpoint(const input& from, std::optional<index_t> rows, const number_sink* to) {
  checkpoint_reader saved(from);
  const index_t size = saved.head().system.cols, most = to ? batch_bytes / 8 : size;
  check_size(size, rows, from.name());
  host_array<double> x;
  grow(x, std::min(size, most), from.name());
  for (index_t first = 0; first < size; first += most) {
    const view<double> next = part(as_view(x), 0, std::min(most, size - first));
    saved.read(next);
    if (to) (*to)(first, as_cview(next));
  }
  saved.check_sum();
  return to ? host_array<double>() : std::move(x);
}

/// Of plain numbers the first line that is no comment: what to do where other programs would have taken it.
void check_first_line(std::string_view text, const std::string& name) {
  constexpr std::string_view blanks = " \t\r\v\f";
  text = without_mark(text);
  const bool returns = ends_lines_with_returns(text);
  for (index_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find_first_of(returns ? "\r\n" : "\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + (text.substr(end).starts_with("\r\n") ? 2 : 1), text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty() || line.front() == '%') continue;
    if (line.front() == '#')
      refuse(name, number, "a comment begins with '%', not with '#': numpy.savetxt writes such with comments='%'");
    line = line.substr(0, line.find_last_not_of(blanks) + 1);
    if (line.find_first_of(blanks) != line.npos && !has_inner_return(line))
      refuse(
          name, number,
          "a line has one number, and this one has several words: columns are those of an array of NumPy (.npy) or of "
          "an 'array real general' of Matrix Market");
    return;
  }
}

/// What a text that begins with `first` is.
host_array<double> read_text(input& from, packing packed, std::string_view first, std::optional<index_t> rows,
                             index_t* columns, const number_sink* to) {
  const std::string& name = from.name();
  if (is_numpy(first))
    return read_numpy(*unpacked(packed, from.open_for_good(), name), text_bound(from, packed), name, rows, columns, to);
  if (has_banner(first)) return read_market(from, packed, rows, columns, to);
  if (has_late_banner(first)) refuse(name, "the banner %%MatrixMarket must be the first line: comments come behind it");
  if (const std::string kind = foreign_kind(first); !kind.empty())
    refuse(name, "neither a Matrix Market file nor numbers, one a line: it is " + kind);
  check_first_line(first, name);
  const auto in = unpacked(packed, from.open_for_good(), name);
  line_feeds text(*in);
  return read_numbers(text, name, rows, to);
}

/// The comments among the first lines of a text, without the banner; whether there is another line.
bool first_comments(std::string_view text, std::vector<std::string>& comments) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  bool others = false;
  for (std::size_t end; (end = text.find_first_of("\r\n")) != text.npos; text.remove_prefix(end + 1)) {
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with("%%MatrixMarket")) continue;
    if (!line.empty() && !line.starts_with('%')) {
      others = true;
      continue;
    }
    line.remove_prefix(std::min(line.find_first_not_of("% \t"), line.size()));
    if (!line.empty()) comments.emplace_back(line.substr(0, line.find_last_not_of(" \t") + 1));
  }
  return others;
}

commented_vector read_it(const source& from, std::optional<index_t> rows, index_t* columns, const number_sink* to) {
  input& in = from.opened();
  return read_unchanged(in, [&]() -> commented_vector {
    const content what = recognise(in);
    if (what.kind == content::kind::petsc) return {read_petsc_vector(in, what.packed, rows, to), {}};
    if (what.kind != content::kind::text) refuse(in.name(), "a matrix or an archive, where a vector is wanted");
    constexpr std::size_t most_comments = 4096;
    std::string first(most_comments, '\0');
    first.resize(unpacked(what.packed, in.open(), in.name())->read_all(first.data(), first.size()));
    if (what.packed == packing::none && is_checkpoint(first)) return {read_x_of_checkpoint(in, rows, to), {}};
    std::vector<std::string> comments;
    const bool whole = first.size() < most_comments;
    const bool all = first_comments(whole ? first + '\n' : first, comments) || whole;
    return {read_text(in, what.packed, first, rows, columns, to), std::move(comments), !all};
  });
}

} // namespace

io::commented_vector io::read_commented_vector(const source& from, std::optional<index_t> rows, index_t* columns) {
  return read_it(from, rows, columns, nullptr);
}

vector_columns io::read_vector_to(const source& from, std::optional<index_t> rows, const number_sink& to) {
  vector_columns v;
  v.values = read_it(from, rows, &v.count, &to).values;
  return v;
}

host_array<double> read_vector(const source& from, std::optional<index_t> rows) {
  return io::read_commented_vector(from, rows).values;
}

vector_columns read_vectors(const source& from, std::optional<index_t> rows) {
  vector_columns v;
  v.values = io::read_commented_vector(from, rows, &v.count).values;
  return v;
}

} // namespace furrow
