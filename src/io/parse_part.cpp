// SPDX-License-Identifier: BSD-3-Clause
#include "parse_part.hpp"

#include "backends/cpu/parallel.hpp"
#include "line_window.hpp"

#include <algorithm>

namespace furrow::io {
namespace {

template <class T> host_array<T> first_of(const host_array<T>& room, index_t count) {
  if (room.empty()) return {};
  host_array<T> own(count);
  std::copy_n(room.data(), count, own.data());
  return own;
}

/// The account before the last piece with lines, and that piece.
struct last_lines {
  account before;
  index_t text = -1;
};
last_lines last_of(const part_of_body& part, account before) {
  last_lines last{before};
  for (const block& b : part.blocks) {
    if (b.text < 0) continue;
    last = {before, b.text};
    before.entries += b.count, before.lower |= b.lower, before.upper |= b.upper;
  }
  return last;
}

} // namespace

account part_of_body::sum() const {
  account all;
  for (const block& b : blocks) all.entries += b.count, all.lower |= b.lower, all.upper |= b.upper;
  return all;
}

part_of_body parse_part(const input& file, const head_lines& lines, index_t first, index_t last) {
  part_of_body part;
  part.blocks.resize(static_cast<std::size_t>(last - first));
  part.pieces.resize(part.blocks.size());
  const auto body = static_cast<index_t>(lines.length);
  std::atomic<index_t> next = first;
  std::atomic<bool> stopped = false;
  cpu::for_each_task(std::min<index_t>(last - first, cpu::thread_count()), [&](index_t) {
    scratch room;
    line_window window(file, body);
    for (index_t k; !stopped.load(std::memory_order_relaxed) && (k = next.fetch_add(1)) < last;) {
      const std::string_view text = window.lines(body + k * piece_bytes, body + (k + 1) * piece_bytes);
      if (text.empty()) continue;
      block& b = part.blocks[static_cast<std::size_t>(k - first)];
      b.text = window.place(text.data());
      room.reserve(lines.head, false, static_cast<index_t>(text.size()));
      b.good = parse_lines(lines.head, false, text.data(), text.data() + text.size(), room, b.count);
      look(b, lines.head, room);
      if (!b.good) stopped.store(true, std::memory_order_relaxed);
      else
        part.pieces[static_cast<std::size_t>(k - first)] = {first_of(room.row, b.count), first_of(room.col, b.count),
                                                            first_of(room.val, b.count)};
    }
  });
  return part;
}

void check_part(const input& file, const head_lines& lines, const part_of_body& part, account before) {
  for (const block& b : part.blocks)
    if (b.text >= 0 && !before.add(b, lines.head.stored)) diagnose_file(file, lines, b.text, before);
}

void refuse_short_part(const input& file, const head_lines& lines, const part_of_body& part, account before) {
  const last_lines last = last_of(part, before);
  diagnose_file(file, lines, last.text < 0 ? static_cast<index_t>(lines.length) : last.text,
                last.text < 0 ? account{} : last.before);
}

} // namespace furrow::io
