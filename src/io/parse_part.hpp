// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entries.hpp"

/// The body of a text file in parts, for readers of which each has some of the pieces that `parse_file` cuts: what they
/// say together is what that one says.
namespace furrow::io {

/// The pieces of a body.
struct pieces_of_body {
  index_t count = 0;
  bool too_long = false; ///< and the rest of the body, which belongs to none
};
pieces_of_body cut_body(const input& file, const head_lines& lines);

/// The order of a block's entries, and what a mirrored file says about its triangles.
void look(block& b, const matrix_header& head, const scratch& s);

/// Entries of one piece, in the order of the file.
struct piece_entries {
  host_array<std::int32_t> row, col;
  host_array<double> val; ///< empty for patterns
};

/// Pieces [first, last) of a body.
struct part_of_body {
  std::vector<block> blocks; ///< `first` has no meaning
  std::vector<piece_entries> pieces;

  /// What they say together, as if all of them were good.
  account sum() const;
};

/// All threads parse. After something wrong, pieces that nobody has begun are left out. Coordinate files only.
part_of_body parse_part(const input& file, const head_lines& lines, index_t first, index_t last);

/// Throws what is wrong first in the part, of which `before` is the account of all parts before it; returns where
/// nothing is.
void check_part(const input& file, const head_lines& lines, const part_of_body& part, account before);

/// Throws that the body ends too early; for the part with the last lines.
[[noreturn]] void refuse_short_part(const input& file, const head_lines& lines, const part_of_body& part,
                                    account before);

/// Goes over the lines of a file from byte `begin` on, once it has counted those before, and throws what is wrong.
[[noreturn]] void diagnose_file(const input& file, const head_lines& lines, index_t begin, const account& before);

} // namespace furrow::io
