// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "chunks.hpp"
#include "pieces.hpp"

/// How the work of a product by rows is cut, of offsets in the memory of the current GPU: what `cut_tiles`,
/// `cut_pieces`, `ends_of_rows` and `cut_chunks` make of them on the host. Offsets of std::int32_t and index_t.
namespace furrow::csr_format {

/// Waits for the number of tiles.
template <class I> gpu_array<tile> cut_tiles_on_gpu(cview<I> row_ptr, index_t entries, index_t rows);

struct gpu_pieces {
  gpu_array<piece> all;
  index_t slots = 0;
};
/// nnz: row_ptr[rows]. Waits for the number of pieces.
template <class I> gpu_pieces cut_pieces_on_gpu(cview<I> row_ptr, piece_sizes s);

/// Enqueues.
template <class I> gpu_array<std::uint8_t> ends_of_rows_on_gpu(cview<I> row_ptr, index_t nnz);
template <class I> gpu_array<std::int32_t> cut_chunks_on_gpu(cview<I> row_ptr, index_t nnz, index_t parts);

} // namespace furrow::csr_format
