// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "byte_stream.hpp"
#include "header.hpp"
#include "input.hpp"
#include "parse_lines.hpp"

#include <atomic>
#include <span>
#include <vector>

namespace furrow::io {

inline constexpr index_t piece_bytes = index_t(1) << 18; ///< text that one thread parses at a time

/// The longest body of a text with this many entries, in bytes: blank lines, comments and digits are not without end.
constexpr double longest_body(double entries) { return 0x1p26 + 4096 * entries; }
/// Refuses a text whose body is longer.
[[noreturn]] void refuse_long_body(const std::string& file, index_t entries);

/// Where the entries of one piece of text are, and what is known of them.
struct block {
  index_t text = -1;            ///< where its lines begin, from the start of the file; -1: no line begins in it
  index_t first = 0, count = 0; ///< its entries in `entries`
  index_t diagonal = 0;         ///< entries on the diagonal (of mirrored files only)
  bool good = true;
  bool lower = false, upper = false;        ///< entries on both sides of the diagonal (of mirrored files only)
  bool by_columns = false, by_rows = false; ///< strictly ascending: by column and row, by row and column
};

/// Entries as `assemble` sorts them: `blocks` in the order in which they were given, wherever the arrays lie.
struct listed_entries {
  matrix_header head;
  cview<std::int32_t> row, col;
  cview<double> val;
  std::span<const block> blocks;
  index_t diagonal = 0;
};

/// The entries as the file has them: `blocks` in the order of the file, the arrays in any order of the blocks.
struct entries {
  matrix_header head;
  host_array<std::int32_t> row, col; ///< empty for arrays
  host_array<double> val;            ///< empty for patterns
  std::vector<block> blocks;
  index_t diagonal = 0;

  listed_entries list() const { return {head, row, col, val, blocks, diagonal}; }
};

/// Entries of the body of a text file, read by all threads.
entries parse_file(const input& file, const head_lines& lines);

/// Entries of a stream of which `ahead` has been read, the head included. Reads on while the pieces at hand are parsed.
entries parse_stream(byte_stream& in, std::string_view ahead, const head_lines& lines, const std::string& name);

/// What pieces say together, in the order of the text.
struct account {
  index_t entries = 0;
  bool lower = false, upper = false; ///< entries below and above the diagonal (of mirrored files only)

  /// Adds a piece. False, and as before, where something is wrong with it or with it behind the others.
  bool add(const block& b, index_t promised);
};

/// Finds the first thing that is wrong with `rest`, which begins with line `number`, behind what `before` counts, and
/// throws "FILE:LINE: what is wrong".
[[noreturn]] void diagnose(const std::string& name, const head_lines& lines, byte_stream& rest, index_t number,
                           account before);

/// Line `number` is the last one, and entries are missing.
[[noreturn]] void refuse_short(const std::string& name, index_t number, index_t entries, index_t promised);

/// The matrix: sorted by row and column, duplicates summed in the order of the file, mirrored entries added.
coo<double> assemble(entries&& e);

/// The same for coordinates that lie elsewhere. What of them `owned` holds goes as soon as it is sorted.
coo<double> assemble(const listed_entries& e, entries& owned);

} // namespace furrow::io
