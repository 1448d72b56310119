// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "atomic_file.hpp"
#include "backends/cpu/parallel.hpp"

#include <atomic>
#include <charconv>
#include <vector>

namespace furrow::io {

/// Room for the text of one piece of a file.
class text_piece {
public:
  /// Pointer to at least `bytes` bytes; `end` says where the text ends.
  char* begin(std::size_t bytes) {
    if (room_.size() < bytes) room_.resize(bytes);
    return room_.data();
  }
  void end(const char* p) { size_ = static_cast<std::size_t>(p - room_.data()); }
  std::string_view text() const { return {room_.data(), size_}; }
  /// The text as one member of a gzip file, in place of the text.
  void pack();

private:
  std::vector<char> room_;
  std::size_t size_ = 0;
};

/// The longest text of a double and of an index, with one blank or line end.
inline constexpr std::size_t longest_value = 26, longest_index = 12;

/// The shortest digits that read back as the same bits; nan, inf and -inf as these words.
inline char* put(char* p, double value) { return std::to_chars(p, p + longest_value, value).ptr; }
inline char* put(char* p, index_t value) { return std::to_chars(p, p + longest_index, value).ptr; }

/// Writes pieces 0 to count - 1 in order; format(k, piece) makes their text on all threads while the pieces before them
/// are on their way to the disk. `packed`: as gzip, a member a piece.
template <class Format> void write_pieces(atomic_file& file, index_t count, bool packed, Format format) {
  const index_t width = 4 * cpu::thread_count();
  std::vector<text_piece> made(static_cast<std::size_t>(width)), leaving(static_cast<std::size_t>(width));
  index_t leaving_count = 0;
  for (index_t first = 0; first < count || leaving_count > 0; first += width) {
    const index_t now = std::clamp<index_t>(count - first, 0, width);
    std::atomic<index_t> next = 0;
    cpu::for_each_task(cpu::thread_count(), [&](index_t worker) {
      if (worker == 0)
        for (index_t k = 0; k < leaving_count; ++k) file.write(leaving[static_cast<std::size_t>(k)].text());
      for (index_t k; (k = next.fetch_add(1)) < now;) {
        format(first + k, made[static_cast<std::size_t>(k)]);
        if (packed) made[static_cast<std::size_t>(k)].pack();
      }
    });
    std::swap(made, leaving);
    leaving_count = now;
  }
}

} // namespace furrow::io
