// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "core/host_room.hpp"
#include "count_lines.hpp"
#include "entries.hpp"
#include "line_window.hpp"
#include "parse_part.hpp"
#include "refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace furrow::io {
namespace {

constexpr index_t batch_bytes = index_t(1) << 21;

/// Takes the entries of the pieces, from all threads at once.
class collector {
public:
  collector(entries& to, const head_lines& lines, const std::string& name) : to_(to) {
    to.head = lines.head;
    const index_t n = to.head.stored;
    const double wanted = estimate_read_memory(to.head);
    if (host_room free; !free.takes(wanted))
      throw_sentence(fault::memory,
                     "{}:{}: reading {} entries of {} x {} needs {:.1f} GB of memory, of which {:.1f} GB can be had",
                     name, lines.lines, n, to.head.shape.rows, to.head.shape.cols, wanted / 1e9, free.bytes() / 1e9);
    if (to.head.layout == matrix_header::layout::coordinate) {
      to.row = host_array<std::int32_t>(n);
      to.col = host_array<std::int32_t>(n);
    }
    if (to.head.field != matrix_header::field::pattern) to.val = host_array<double>(n);
  }

  /// Parses [text, end), for which see parse_lines. After something wrong, pieces that nobody has begun are left out.
  void take(const char* text, const char* end, scratch& s, block& b) {
    s.reserve(to_.head, false, end - text);
    b.good = parse_lines(to_.head, false, text, end, s, b.count);
    if (to_.head.layout == matrix_header::layout::coordinate) look(b, to_.head, s);
    b.first = used_.fetch_add(b.count, std::memory_order_relaxed);
    if (b.first + b.count > to_.head.stored) b.good = false;
    if (!b.good) {
      stopped_.store(true, std::memory_order_relaxed);
      return;
    }
    const auto keep = [&](auto& all, const auto& some) {
      if (!all.empty())
        std::memcpy(all.data() + b.first, some.data(), static_cast<std::size_t>(b.count) * sizeof(some[0]));
    };
    keep(to_.row, s.row), keep(to_.col, s.col), keep(to_.val, s.val);
  }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

private:
  entries& to_;
  std::atomic<index_t> used_ = 0;
  std::atomic<bool> stopped_ = false;
};

/// Text of a file from `at` on.
struct file_stream final : byte_stream {
  const input& file;
  index_t at;
  file_stream(const input& file, index_t at) : file(file), at(at) {}
  std::size_t read(char* to, std::size_t wanted) override {
    const std::size_t got = file.read_at(to, wanted, at);
    at += static_cast<index_t>(got);
    return got;
  }
};

} // namespace

void look(block& b, const matrix_header& head, const scratch& s) {
  if (b.count == 0) return;
  const std::int32_t *const row = s.row.data(), *const col = s.col.data();
  int by_columns = 1, by_rows = 1;
  for (index_t k = 1; k < b.count; ++k) {
    const int next_row = row[k - 1] < row[k], next_col = col[k - 1] < col[k];
    by_columns &= next_col | (static_cast<int>(col[k - 1] == col[k]) & next_row);
    by_rows &= next_row | (static_cast<int>(row[k - 1] == row[k]) & next_col);
  }
  b.by_columns = by_columns != 0, b.by_rows = by_rows != 0;
  if (is_mirrored(head)) {
    std::int32_t below = 0, above = 0; // a piece has fewer than 2^31 lines
    for (index_t k = 0; k < b.count; ++k) {
      below += row[k] > col[k];
      above += row[k] < col[k];
    }
    b.lower = below > 0, b.upper = above > 0;
    b.diagonal = b.count - below - above;
  }
}

void diagnose_file(const input& file, const head_lines& lines, index_t begin, const account& before) {
  std::vector<char> buffer(std::size_t(1) << 20);
  index_t number = 1;
  for (index_t at = 0; at < begin;) {
    const auto wanted = static_cast<std::size_t>(std::min<index_t>(std::ssize(buffer), begin - at));
    if (file.read_at(buffer.data(), wanted, at) < wanted) file.refuse_changed();
    number += count_lines(buffer.data(), buffer.data() + wanted);
    at += static_cast<index_t>(wanted);
  }
  file_stream rest(file, begin);
  diagnose(file.name(), lines, rest, number, before);
}

pieces_of_body cut_body(const input& file, const head_lines& lines) {
  const auto size = file.size(), body = static_cast<index_t>(lines.length);
  const double longest = longest_body(static_cast<double>(lines.head.stored));
  const bool too_long = static_cast<double>(size - body) > longest;
  return {((too_long ? static_cast<index_t>(longest) : size - body) + piece_bytes - 1) / piece_bytes, too_long};
}

entries parse_file(const input& file, const head_lines& lines) {
  entries out;
  collector all(out, lines, file.name());
  const auto body = static_cast<index_t>(lines.length);
  const pieces_of_body cut = cut_body(file, lines);
  const index_t pieces = cut.count;
  out.blocks.resize(static_cast<std::size_t>(pieces));
  std::atomic<index_t> next = 0;
  cpu::for_each_task(std::min<index_t>(pieces, cpu::thread_count()), [&](index_t) {
    scratch room;
    line_window window(file, body);
    for (index_t k; !all.stopped() && (k = next.fetch_add(1)) < pieces;) {
      const std::string_view text = window.lines(body + k * piece_bytes, body + (k + 1) * piece_bytes);
      if (text.empty()) continue;
      block& b = out.blocks[static_cast<std::size_t>(k)];
      b.text = window.place(text.data());
      all.take(text.data(), text.data() + text.size(), room, b);
    }
  });
  account sum, before; // of all pieces; of those before the last one
  index_t last = body;
  for (const block& b : out.blocks) {
    if (b.text < 0) continue;
    before = sum, last = b.text;
    if (!sum.add(b, out.head.stored)) diagnose_file(file, lines, last, before);
    out.diagonal += b.diagonal;
  }
  if (cut.too_long) refuse_long_body(file.name(), out.head.stored);
  if (sum.entries < out.head.stored) diagnose_file(file, lines, last, before);
  return out;
}

entries parse_stream(byte_stream& in, std::string_view ahead, const head_lines& lines, const std::string& name) {
  entries out;
  collector all(out, lines, name);
  const std::string_view body = ahead.substr(lines.length);
  const auto given = static_cast<index_t>(body.size());
  host_array<char> now(given + piece_bytes + 2 * padding), later;
  std::copy(body.begin(), body.end(), now.begin());
  // A first piece, so that small files are done without the other threads.
  const auto first = static_cast<index_t>(in.read_all(now.data() + given, static_cast<std::size_t>(piece_bytes)));
  index_t held = given + first, place = static_cast<index_t>(lines.length);
  std::vector<scratch> rooms(static_cast<std::size_t>(cpu::thread_count()) + 1);
  account sum;
  index_t line = lines.lines + 1; // that the next piece begins with
  for (bool ended = first < piece_bytes; !ended || held > 0;) {
    if (ended && now[held - 1] != '\n') now[held++] = '\n'; // there is room: padding
    index_t cut = held;
    while (cut > 0 && now[cut - 1] != '\n') --cut;
    const index_t carried = held - cut;
    if (carried > longest_line) refuse_long_line(name);
    if (!ended && later.capacity() < carried + batch_bytes + 2 * padding)
      later = host_array<char>(2 * carried + batch_bytes + 2 * padding);
    std::vector<index_t> cuts{0};
    while (cuts.back() < cut) {
      index_t to = std::min(cut, cuts.back() + piece_bytes);
      while (now[to - 1] != '\n') ++to;
      cuts.push_back(to);
    }
    const auto pieces = static_cast<index_t>(cuts.size()) - 1;
    const std::size_t done = out.blocks.size();
    out.blocks.resize(done + static_cast<std::size_t>(pieces));
    std::vector<index_t> ends(static_cast<std::size_t>(pieces)); // lines of each piece
    std::atomic<index_t> next = 0;
    index_t got = 0;
    cpu::for_each_task(std::clamp<index_t>(pieces + !ended, 1, cpu::thread_count()), [&](index_t worker) {
      if (worker == 0 && !ended) {
        std::memcpy(later.data(), now.data() + cut, static_cast<std::size_t>(carried));
        got = static_cast<index_t>(in.read_all(later.data() + carried, static_cast<std::size_t>(batch_bytes)));
      }
      for (index_t k; !all.stopped() && (k = next.fetch_add(1)) < pieces;) {
        const auto piece = static_cast<std::size_t>(k);
        const char *const from = now.data() + cuts[piece], *const to = now.data() + cuts[piece + 1];
        block& b = out.blocks[done + piece];
        b.text = place + cuts[piece];
        all.take(from, to, rooms[static_cast<std::size_t>(worker)], b);
        ends[piece] = count_lines(from, to);
      }
    });
    for (std::size_t k = 0; k < ends.size(); ++k) { // what is wrong is wrong in the text at hand
      const block& b = out.blocks[done + k];
      memory_stream rest({now.data() + cuts[k], static_cast<std::size_t>(cut - cuts[k])});
      if (!sum.add(b, out.head.stored)) diagnose(name, lines, rest, line, sum);
      out.diagonal += b.diagonal;
      line += ends[k];
    }
    place += cut;
    if (static_cast<double>(place) - static_cast<double>(lines.length) >
        longest_body(static_cast<double>(out.head.stored)))
      refuse_long_body(name, out.head.stored);
    if (ended) break;
    ended = got < batch_bytes;
    held = carried + got;
    std::swap(now, later);
  }
  if (sum.entries < out.head.stored) refuse_short(name, line - 1, sum.entries, out.head.stored);
  return out;
}

void refuse_long_body(const std::string& file, index_t entries) {
  refuse(file, fmt::format("more than 64 MiB of blank lines, comments and long numbers besides its {} {}", entries,
                           entries == 1 ? "entry" : "entries"));
}

} // namespace furrow::io
