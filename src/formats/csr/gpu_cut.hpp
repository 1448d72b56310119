// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "chunks.hpp"
#include "pieces.hpp"

#include <memory>
#include <vector>

/// How the work of a product by rows is cut, of offsets in the memory of the current GPU: what `cut_tiles`,
/// `cut_pieces`, `ends_of_rows` and `cut_chunks` make of them on the host. Offsets of std::int32_t and index_t.
namespace furrow::csr_format {

/// What a cut is: tiles, or pieces with slots for the parts of long rows.
struct work_cut {
  gpu_array<tile> tiles;
  gpu_array<piece> pieces;
  index_t slots = 0;
};

namespace gpu_cut {
struct plan;
} // namespace gpu_cut

/// Cuts of the same rows, side by side and waited for once: what each takes at most is known before. nnz:
/// row_ptr[rows].
template <class I> class cuts_on_gpu {
public:
  cuts_on_gpu(cview<I> row_ptr, index_t nnz);
  cuts_on_gpu(cuts_on_gpu&&) noexcept;
  ~cuts_on_gpu();
  /// Wanted from `finish`; the number of the cut.
  int tiles(index_t entries, index_t rows);
  int pieces(piece_sizes s);
  /// Waits for all that is enqueued, whatever it is.
  void finish();
  work_cut& at(int number) { return cuts_[static_cast<std::size_t>(number)]; } ///< once they are finished

private:
  static constexpr index_t most = 4;
  gpu_cut::plan& begin(index_t entries, index_t rows, index_t part);
  void enqueue();

  cview<I> row_ptr_;
  index_t nnz_;
  gpu_array<std::int32_t> counts_; ///< of tiles and of parts, of each
  std::vector<work_cut> cuts_;
  std::vector<std::unique_ptr<gpu_cut::plan>> plans_; ///< of each
};

/// Enqueues.
template <class I> gpu_array<std::uint8_t> ends_of_rows_on_gpu(cview<I> row_ptr, index_t nnz);
template <class I> gpu_array<std::int32_t> cut_chunks_on_gpu(cview<I> row_ptr, index_t nnz, index_t parts);

} // namespace furrow::csr_format
