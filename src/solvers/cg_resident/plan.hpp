// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>
#include <furrow/view.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

/// How a system lies on the chip: which rows a block keeps, which elements of p it needs of others, and whether its
/// matrix lies beside its vectors.
namespace furrow::resident {

inline constexpr int threads = 512; ///< of a block
/// Blocks at most, with the one that judges: a warp adds the sums of all, `sums_a_lane` a lane.
inline constexpr int sums_a_lane = 5, most_blocks = 32 * sums_a_lane;
/// Elements of the halo that a thread reads at once, and threads that do.
inline constexpr int gather_batch = 4, gather_threads = threads - 64;
/// Entries that a thread may keep in registers.
inline constexpr int register_sizes[] = {4, 8};
/// Elements of p that a block can number, its own and others'.
inline constexpr index_t most_elements = 1 << 16;

/// What a device gives to one cooperative kernel with one block a multiprocessor.
struct chip {
  int blocks = 0;               ///< that run at the same time; the first judges and keeps no rows
  std::int64_t block_bytes = 0; ///< of shared memory that a block may have
};

/// What that GPU gives; nothing of a device that is none.
chip chip_of(device where);

/// What a block keeps.
struct share_size {
  index_t rows = 0, entries = 0;
  index_t halo = 0; ///< elements of p of other blocks
};

/// How many vectors a method keeps beside the one that A multiplies, which has a block's rows and its halo.
struct vectors_kept {
  int of_rows, of_halo;
  int of_rows_beside_registers, of_halo_beside_registers; ///< where registers have the others
};

/// Bytes of shared memory for that, the vectors and offsets of its rows; `inside`: its values and columns, too. Each
/// array begins at a multiple of 8 bytes.
inline std::int64_t bytes_of(const share_size& s, int value_bytes, bool inside, vectors_kept kept) {
  const auto whole = [](std::int64_t bytes) { return (bytes + 7) / 8 * 8; };
  return whole((s.rows + s.halo) * value_bytes) + kept.of_rows * whole(s.rows * value_bytes) +
         kept.of_halo * whole(s.halo * value_bytes) + whole((s.rows + 1) * 4) +
         (inside ? whole(s.entries * value_bytes) + whole(s.entries * 2) : 0);
}

struct plan {
  std::vector<std::int32_t> first;      ///< block k + 1 keeps rows first[k] to first[k + 1] - 1; a row at least
  std::vector<std::int32_t> halo_first; ///< its part of `halo`
  std::vector<std::int32_t> halo;       ///< columns of other blocks' rows, ascending in each part
  std::vector<std::uint16_t> col;       ///< of each entry: a row of the block, or rows + its place in the halo
  std::vector<std::uint16_t> col_of_m;  ///< of each entry of M: a row of the block
  std::int64_t bytes = 0;               ///< of shared memory, of the block that takes most
  bool inside = false;                  ///< the matrix lies there, too, or in registers
  int lanes = 1;                        ///< threads a row, a power of two up to a warp
  int registers = 0; ///< entries that a thread keeps there, with all vectors but the one that A multiplies; 0: none
  bool fits() const { return !first.empty(); }
  int blocks() const { return fits() ? static_cast<int>(first.size()) : 0; } ///< with the one that judges
};

/// M as a square matrix by rows whose entries stay within blocks of the rows; none of its rows: M is none.
struct matrix_of_m {
  cview<index_t> row_ptr;
  cview<std::int32_t> col;
};

/// Cuts rows so that blocks have equal shares of entries and rows together: a row costs about as much as two entries
/// beside its own. An empty plan where not even the vectors fit, where the device runs fewer than two blocks, where
/// entries leave 31 bits, or where a block needs more than `most_elements`. No entry of M crosses a cut. A square
/// matrix by rows, sorted; `row_ptr` has rows + 1 offsets. Cost: two passes over the entries, and a sort of each halo,
/// by all threads, each with 8 bytes a row.
plan make_plan(cview<index_t> row_ptr, cview<std::int32_t> col, int value_bytes, const chip& c, vectors_kept kept,
               const matrix_of_m& m = {});

/// Whether equal shares of rows may fit, with a halo of as many elements as rows.
bool may_fit(index_t rows, int value_bytes, const chip& c, vectors_kept kept);

/// A method on the chip, and what does the same elsewhere.
struct names {
  std::string_view solver, usual;
};

/// Throws the sentence: rows with so many entries have no place on such a chip; its blocks do not run there.
[[noreturn]] void does_not_fit(index_t rows, index_t entries, const chip& c, const names& who);
[[noreturn]] void does_not_run(std::int64_t bytes, const names& who);

} // namespace furrow::resident
