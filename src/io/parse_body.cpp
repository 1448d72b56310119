// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "entries.hpp"
#include "refuse.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace furrow::io {
namespace {

constexpr std::size_t padding = 64; ///< readable bytes behind every text that is scanned
constexpr index_t batch_bytes = index_t(1) << 21;

/// The order of the entries, and what a mirrored file says about its triangles.
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

/// Takes the entries of the pieces, from all threads at once.
class collector {
public:
  collector(entries& to, const head_lines& lines, const std::string& name) : to_(to) {
    to.head = lines.head;
    const index_t n = to.head.stored;
    const double wanted = estimate_read_memory(to.head), free = static_cast<double>(available_host_memory());
    check(wanted <= free, fault::memory,
          "{}:{}: reading {} entries of {} x {} needs {:.1f} GB of memory, of which {:.1f} GB can be had", name,
          lines.lines, n, to.head.shape.rows, to.head.shape.cols, wanted / 1e9, free / 1e9);
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

/// Adds up what the blocks say, and goes to look for the error where they say that there is one. too_long: more text
/// follows, but it is more than may be.
void settle(entries& e, const head_lines& lines, const text_origin& origin, bool too_long) {
  index_t before = 0;
  bool lower = false, upper = false;
  for (const block& b : e.blocks) {
    if (!b.good || before + b.count > e.head.stored || ((lower || b.lower) && (upper || b.upper)))
      diagnose(origin, lines, b.text, before, lower, upper);
    before += b.count;
    lower |= b.lower, upper |= b.upper;
    e.diagonal += b.diagonal;
  }
  if (too_long) refuse_long_body(origin.name, e.head.stored);
  if (before < e.head.stored)
    diagnose(origin, lines, e.blocks.empty() ? static_cast<index_t>(lines.length) : e.blocks.back().text,
             before - (e.blocks.empty() ? 0 : e.blocks.back().count), lower, upper);
}

/// A copy of `text` that ends with a line end and can be scanned.
std::string padded(std::string_view text) {
  std::string out(text);
  if (!text.ends_with('\n')) out += '\n';
  const std::size_t size = out.size();
  out.append(padding, '\0').resize(size); // the bytes stay readable
  return out;
}

} // namespace

entries parse_mapped(const mapped_file& map, const head_lines& lines, const text_origin& origin) {
  entries out;
  collector all(out, lines, origin.name);
  const std::string_view text = map.text();
  const auto size = static_cast<index_t>(text.size()), body = static_cast<index_t>(lines.length);
  const double longest = longest_body(static_cast<double>(lines.head.stored));
  const bool too_long = static_cast<double>(size - body) > longest;
  const index_t pieces = ((too_long ? static_cast<index_t>(longest) : size - body) + piece_bytes - 1) / piece_bytes;
  out.blocks.resize(static_cast<std::size_t>(pieces));
  const auto line_start = [&](index_t at) { // the first line that begins at `at` or later
    if (at <= body) return body;
    const std::size_t end = text.find('\n', static_cast<std::size_t>(std::min(at, size)) - 1);
    return end == std::string_view::npos ? size : static_cast<index_t>(end) + 1;
  };
  std::atomic<index_t> next = 0;
  constexpr index_t group = 16;
  cpu::for_each_task(std::min<index_t>(pieces, cpu::thread_count()), [&](index_t) {
    scratch room;
    for (index_t k; !all.stopped() && (k = next.fetch_add(1)) < pieces;) {
      block& b = out.blocks[static_cast<std::size_t>(k)];
      map.fetch(body + k * piece_bytes, body + (k + 1) * piece_bytes);
      const index_t from = line_start(body + k * piece_bytes), to = line_start(body + (k + 1) * piece_bytes);
      b.text = from;
      if (from == to) continue;
      if (to + static_cast<index_t>(padding) <= size) {
        all.take(text.data() + from, text.data() + to, room, b);
      } else {
        const std::string last =
            padded(text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
        all.take(last.data(), last.data() + last.size(), room, b);
      }
      // Pages go back in large groups, for all processors must take notice; and late, when nobody reads there any more.
      if (k % group == group - 1)
        map.forget(body + (k + 1 - 2 * group) * piece_bytes, body + (k + 1 - group) * piece_bytes);
    }
  });
  map.forget(body, size);
  settle(out, lines, origin, too_long);
  return out;
}

entries parse_stream(byte_stream& in, std::string_view ahead, const head_lines& lines, const text_origin& origin) {
  entries out;
  collector all(out, lines, origin.name);
  const std::string_view body = ahead.substr(lines.length);
  const auto given = static_cast<index_t>(body.size());
  host_array<char> now(given + piece_bytes + static_cast<index_t>(2 * padding)), later;
  std::copy(body.begin(), body.end(), now.begin());
  // A first piece, so that small files are done without the other threads.
  const auto first = static_cast<index_t>(in.read_all(now.data() + given, static_cast<std::size_t>(piece_bytes)));
  index_t held = given + first, place = static_cast<index_t>(lines.length);
  const double longest = longest_body(static_cast<double>(lines.head.stored));
  bool too_long = false;
  std::vector<scratch> rooms(static_cast<std::size_t>(cpu::thread_count()) + 1);
  for (bool ended = first < piece_bytes; !ended || held > 0;) {
    if (ended && now[held - 1] != '\n') now[held++] = '\n'; // there is room: padding
    index_t cut = held;
    while (cut > 0 && now[cut - 1] != '\n') --cut;
    const index_t carried = held - cut;
    if (carried > longest_line) refuse(origin.name, "a line is longer than 64 MiB");
    if (!ended && later.capacity() < carried + batch_bytes + static_cast<index_t>(2 * padding))
      later = host_array<char>(2 * carried + batch_bytes + static_cast<index_t>(2 * padding));
    std::vector<index_t> cuts{0};
    while (cuts.back() < cut) {
      index_t to = std::min(cut, cuts.back() + piece_bytes);
      while (now[to - 1] != '\n') ++to;
      cuts.push_back(to);
    }
    const auto pieces = static_cast<index_t>(cuts.size()) - 1;
    const std::size_t done = out.blocks.size();
    out.blocks.resize(done + static_cast<std::size_t>(pieces));
    std::atomic<index_t> next = 0;
    index_t got = 0;
    cpu::for_each_task(std::clamp<index_t>(pieces + !ended, 1, cpu::thread_count()), [&](index_t worker) {
      if (worker == 0 && !ended) {
        std::memcpy(later.data(), now.data() + cut, static_cast<std::size_t>(carried));
        got = static_cast<index_t>(in.read_all(later.data() + carried, static_cast<std::size_t>(batch_bytes)));
      }
      for (index_t k; !all.stopped() && (k = next.fetch_add(1)) < pieces;) {
        block& b = out.blocks[done + static_cast<std::size_t>(k)];
        b.text = place + cuts[static_cast<std::size_t>(k)];
        all.take(now.data() + cuts[static_cast<std::size_t>(k)], now.data() + cuts[static_cast<std::size_t>(k) + 1],
                 rooms[static_cast<std::size_t>(worker)], b);
      }
    });
    if (all.stopped()) break;
    place += cut;
    too_long = static_cast<double>(place) - static_cast<double>(lines.length) > longest;
    if (ended || too_long) break;
    ended = got < batch_bytes;
    held = carried + got;
    std::swap(now, later);
  }
  settle(out, lines, origin, too_long);
  return out;
}

void refuse_long_body(const std::string& file, index_t entries) {
  refuse(file, fmt::format("more than 64 MiB of blank lines, comments and long numbers besides its {} {}", entries,
                           entries == 1 ? "entry" : "entries"));
}

} // namespace furrow::io
