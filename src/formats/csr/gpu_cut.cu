// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_cut.hpp"

#include "gpu_chunk.hpp"

#include "backends/gpu/primitives.hpp"

#include <algorithm>
#include <utility>

namespace furrow::csr_format {
namespace gpu_cut {

/// How a matrix is cut. A tile begins where the one before it ends. A block takes a chunk of the rows and finds out for
/// every row that a tile may begin at which row the first tile behind the chunk begins then, and how many come before;
/// one thread goes from chunk to chunk; then the tiles of all chunks are written.
struct limits {
  index_t entries, rows; ///< of a tile
  index_t part;          ///< entries of a part of a longer row; 0: it is one tile
};

/// What comes before: tiles, and parts of rows that are longer.
struct counts {
  int tiles, parts;
};
/// From a row to the first one behind its chunk.
struct alignas(16) way {
  std::int32_t row;
  counts passed;
};

FURROW_HD inline index_t parts_of(index_t begin, index_t end, index_t part) {
  return (end - aligned(begin) + part - 1) / part;
}

/// Rows of the tile that begins with `row`; 0: the row is longer than a tile.
template <class I> __device__ int rows_of_tile(cview<I> row_ptr, index_t row, const limits& l) {
  const index_t rows = row_ptr.size - 1, most = static_cast<index_t>(row_ptr[row]) + l.entries;
  index_t low = row, high = row + l.rows < rows ? row + l.rows : rows; // row_ptr[low] <= most
  while (low < high) {
    const index_t middle = low + (high - low + 1) / 2;
    if (row_ptr[middle] <= most) low = middle;
    else high = middle - 1;
  }
  return static_cast<int>(low - row);
}

template <class I>
__global__ void __launch_bounds__(threads)
    ways_kernel(cview<I> row_ptr, limits l, std::int32_t* taken, way* ways, bool leads) {
  __shared__ int next[chunk];
  __shared__ counts passed[chunk];
  if (leads) gpu::lead_others();
  const gpu::beside_others turn;
  const index_t rows = row_ptr.size - 1, first = index_t(blockIdx.x) * chunk;
  const int count = static_cast<int>(rows - first < chunk ? rows - first : chunk);
  for (int r = static_cast<int>(threadIdx.x); r < count; r += threads) {
    const index_t row = first + r;
    const int in_tile = rows_of_tile(row_ptr, row, l);
    taken[row] = in_tile;
    next[r] = r + (in_tile ? in_tile : 1);
    passed[r] = in_tile || !l.part ? counts{1, 0}
                                   : counts{0, static_cast<int>(parts_of(row_ptr[row], row_ptr[row + 1], l.part))};
  }
  __syncthreads();
  for (bool more = true; more;) {
    int to[each];
    counts on[each];
    more = false;
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const int r = static_cast<int>(threadIdx.x) + j * threads;
      to[j] = -1;
      if (r >= count || next[r] >= count) continue;
      to[j] = next[next[r]];
      on[j] = {passed[r].tiles + passed[next[r]].tiles, passed[r].parts + passed[next[r]].parts};
      more = true;
    }
    more = __syncthreads_or(more);
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const int r = static_cast<int>(threadIdx.x) + j * threads;
      if (to[j] < 0) continue;
      next[r] = to[j];
      passed[r] = on[j];
    }
    __syncthreads();
  }
  for (int r = static_cast<int>(threadIdx.x); r < count && r < l.rows; r += threads)
    ways[blockIdx.x * l.rows + r] = {static_cast<std::int32_t>(first + next[r]), passed[r]};
}

/// From `at` on through the chunks [first, end): begin[c], where `begin` is not null, is the row that the first tile of
/// chunk c begins with, and what comes before.
__device__ inline way walk_chunks(way at, index_t first, index_t end, index_t rows, limits l, const way* ways,
                                  way* begin) {
  for (index_t c = first; c < end; ++c) {
    if (begin) begin[c] = at;
    if (at.row >= rows) continue; // the last chunk may be in the tile before
    const way w = ways[c * l.rows + (at.row - c * chunk)];
    at = {w.row, {at.passed.tiles + w.passed.tiles, at.passed.parts + w.passed.parts}};
  }
  return at;
}

/// Many chunks are taken in groups: a step from chunk to chunk is a trip to memory, some 0.4 us.
constexpr index_t group = 32, few_chunks = 2 * group;

/// A block a group: from every row that a tile may begin at in its first chunk to the first one behind the group.
__global__ void __launch_bounds__(gpu::each_threads)
    groups_kernel(index_t rows, index_t chunks, limits l, const way* ways, way* through, bool leads) {
  if (leads) gpu::lead_others();
  const gpu::beside_others turn;
  const index_t first = index_t(blockIdx.x) * group, end = first + group < chunks ? first + group : chunks;
  for (index_t r = threadIdx.x; r < l.rows; r += gpu::each_threads) {
    const way at{static_cast<std::int32_t>(first * chunk + r), {0, 0}};
    through[blockIdx.x * l.rows + r] = walk_chunks(at, first, end, rows, l, ways, nullptr);
  }
}

/// begin[c] of all chunks, and all that there is; `through` is null where there are no groups.
__global__ void __launch_bounds__(gpu::each_threads)
    begins_kernel(index_t rows, index_t chunks, limits l, const way* ways, const way* through, way* begin, counts* all,
                  bool leads) {
  if (leads) gpu::lead_others();
  const gpu::beside_others turn;
  if (threadIdx.x == 0) {
    way at{0, {0, 0}};
    if (!through) at = walk_chunks(at, 0, chunks, rows, l, ways, begin);
    else
      for (index_t c = 0; c < chunks; c += group) {
        begin[c] = at;
        if (at.row >= rows) continue;
        const way w = through[c / group * l.rows + (at.row - c * chunk)];
        at = {w.row, {at.passed.tiles + w.passed.tiles, at.passed.parts + w.passed.parts}};
      }
    *all = at.passed;
  }
  __syncthreads();
  if (!through) return;
  for (index_t c = threadIdx.x * group; c < chunks; c += gpu::each_threads * group)
    walk_chunks(begin[c], c, c + group < chunks ? c + group : chunks, rows, l, ways, begin);
}

template <class I, class Put>
__device__ void write_chunk(cview<I> row_ptr, const limits& l, const std::int32_t* taken, const way* begin, bool leads,
                            Put put) {
  __shared__ of_chunk mine;
  if (leads) gpu::lead_others();
  const gpu::beside_others turn;
  const index_t rows = row_ptr.size - 1, first = index_t(blockIdx.x) * chunk;
  const int count = static_cast<int>(rows - first < chunk ? rows - first : chunk);
  for (int r = static_cast<int>(threadIdx.x); r < count; r += threads) mine.taken[r] = taken[first + r];
  const way b = begin[blockIdx.x];
  __syncthreads();
  mine.mark(static_cast<int>(b.row - first), count);
  mine.list(count, l.part == 0,
            [&](int r) { return static_cast<int>(parts_of(row_ptr[first + r], row_ptr[first + r + 1], l.part)); });
  put(mine, first, b.passed);
}

template <class I>
__global__ void __launch_bounds__(threads)
    tiles_kernel(cview<I> row_ptr, limits l, const std::int32_t* taken, const way* begin, tile* to, bool leads) {
  write_chunk(row_ptr, l, taken, begin, leads, [&](of_chunk& mine, index_t first, counts before) {
    for (int n = static_cast<int>(threadIdx.x); n < mine.tiles; n += threads) {
      const int r = mine.row[n], in_tile = mine.taken[r];
      const index_t row = first + r, from = row_ptr[row];
      to[before.tiles + n] = {from, static_cast<std::int32_t>(row), in_tile ? in_tile : 1,
                              in_tile ? static_cast<std::int32_t>(row_ptr[row + in_tile] - from) : -1};
    }
  });
}

/// The n-th part of a row that begins with entry `from`, the parts of which have the slots from `first` on.
FURROW_HD inline piece part_of_row(index_t row, index_t from, index_t end, index_t part, int parts, int n, int first) {
  const index_t k = aligned(from) + n * part, at = k < from ? from : k, behind = k + part < end ? k + part : end;
  return {at, static_cast<std::int32_t>(row), 0, static_cast<std::int32_t>(behind - at), parts, first + n, first};
}

/// Parts first.
template <class I>
__global__ void __launch_bounds__(threads) pieces_kernel(cview<I> row_ptr, limits l, const std::int32_t* taken,
                                                         const way* begin, const counts* all, piece* to, bool leads) {
  write_chunk(row_ptr, l, taken, begin, leads, [&](of_chunk& mine, index_t first, counts before) {
    const int all_parts = all->parts;
    for (int n = static_cast<int>(threadIdx.x); n < mine.tiles; n += threads) {
      const int r = mine.row[n], in_tile = mine.taken[r];
      const index_t row = first + r, from = row_ptr[row];
      to[all_parts + before.tiles + n] = {
          from, static_cast<std::int32_t>(row), in_tile, static_cast<std::int32_t>(row_ptr[row + in_tile] - from), 0, 0,
          0};
    }
    for (int n = static_cast<int>(threadIdx.x); n < mine.parts; n += threads) {
      const int m = mine.longer_of_part(n), slot = before.parts + mine.before[m];
      const index_t row = first + mine.row[chunk - 1 - m], from = row_ptr[row], end = row_ptr[row + 1];
      const int parts = static_cast<int>(parts_of(from, end, l.part));
      to[before.parts + n] = part_of_row(row, from, end, l.part, parts, n - mine.before[m], slot);
    }
  });
}

/// Where every chunk begins, in one piece of memory.
struct plan {
  limits l;
  counts* all;
  index_t rows, chunks, groups;
  gpu_array<way> room;
  way *begin, *ways, *through;
  std::int32_t* taken;

  plan(index_t rows, const limits& l, counts* all)
      : l(l), all(all), rows(rows), chunks((rows + chunk - 1) / chunk),
        groups(chunks > few_chunks ? (chunks + group - 1) / group : 0),
        room(chunks + (chunks + groups) * l.rows + (rows + 3) / 4), begin(room.data()), ways(begin + chunks),
        through(ways + chunks * l.rows), taken(reinterpret_cast<std::int32_t*>(through + groups * l.rows)) {
    static_assert(sizeof(way) == 4 * sizeof(std::int32_t));
  }
};

/// Rows that are longer than a tile, at most.
index_t most_longer(index_t nnz, const limits& l) { return nnz / (l.entries + 1); }
/// Tiles that there are at most, longer rows among them. One ends with its rows, or before a row that has no room
/// beside its entries: of these two have an entry more than a tile together, and nothing is counted more than twice.
index_t most_tiles(index_t rows, index_t nnz, const limits& l) {
  return std::min(rows, rows / l.rows + 2 * nnz / (l.entries + 1) + most_longer(nnz, l) + 1);
}
/// The same with the parts of longer rows, of which two may be short, the first and the last one.
index_t most_pieces(index_t rows, index_t nnz, const limits& l) {
  return most_tiles(rows, nnz, l) + nnz / l.part + 2 * most_longer(nnz, l);
}

/// The first `count` elements of `all`: in its memory where that is little.
template <class T> gpu_array<T> first_of(gpu_array<T> all, index_t count) {
  constexpr index_t little = index_t(1) << 20; // bytes
  if (all.size() * index_t(sizeof(T)) <= little) {
    all.resize(count);
    return all;
  }
  gpu_array<T> own(count);
  gpu_memory::copy(own.data(), all.data(), own.byte_count());
  return own;
}

template <class I> struct mark_end {
  const I* row_ptr;
  unsigned* ends;
  FURROW_HD void operator()([[maybe_unused]] index_t r) const {
#if defined(__CUDA_ARCH__)
    if (row_ptr[r + 1] == row_ptr[r]) return;
    const index_t k = row_ptr[r + 1] - 1;
    atomicOr(ends + k / 32, 1u << k % 32);
#endif
  }
};

template <class I> struct find_chunk {
  const I* row_ptr;
  index_t rows, nnz, parts;
  std::int32_t* begin;
  FURROW_HD void operator()(index_t k) const {
    const index_t extra = nnz % parts, target = nnz / parts * k + (k < extra ? k : extra);
    index_t low = 0, high = rows;
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (row_ptr[middle] < target) low = middle + 1;
      else high = middle;
    }
    begin[k] = static_cast<std::int32_t>(k == parts ? rows : k == 0 ? 0 : low);
  }
};

} // namespace gpu_cut

template <class I> cuts_on_gpu<I>::cuts_on_gpu(cview<I> row_ptr, index_t nnz) : row_ptr_(row_ptr), nnz_(nnz) {}
template <class I> cuts_on_gpu<I>::cuts_on_gpu(cuts_on_gpu&&) noexcept = default;
template <class I> cuts_on_gpu<I>::~cuts_on_gpu() = default;

template <class I> gpu_cut::plan& cuts_on_gpu<I>::begin(index_t entries, index_t rows, index_t part) {
  if (cuts_.empty()) counts_ = gpu_array<std::int32_t>(2 * most);
  furrow::require(std::ssize(cuts_) < most, "too many cuts of one matrix");
  auto* const all = reinterpret_cast<gpu_cut::counts*>(counts_.data()) + cuts_.size();
  cuts_.emplace_back();
  plans_.push_back(std::make_unique<gpu_cut::plan>(row_ptr_.size - 1, gpu_cut::limits{entries, rows, part}, all));
  return *plans_.back();
}

template <class I> int cuts_on_gpu<I>::tiles(index_t entries, index_t rows) {
  const gpu_cut::plan& p = begin(entries, rows, 0);
  cuts_.back().tiles = gpu_array<tile>(gpu_cut::most_tiles(p.rows, nnz_, p.l));
  return static_cast<int>(cuts_.size()) - 1;
}

template <class I> int cuts_on_gpu<I>::pieces(piece_sizes s) {
  const gpu_cut::plan& p = begin(s.entries - (piece_alignment - 1), s.rows, s.part);
  cuts_.back().pieces = gpu_array<piece>(gpu_cut::most_pieces(p.rows, nnz_, p.l));
  return static_cast<int>(cuts_.size()) - 1;
}

/// Step by step for all of them: those of a step run side by side.
template <class I> void cuts_on_gpu<I>::enqueue() {
  using namespace gpu_cut;
  const gpu::queue& q = gpu::current_queue();
  const auto each = [&](auto step) {
    bool leads = true;
    for (std::size_t k = 0; k < cuts_.size(); ++k)
      if (step(*plans_[k], cuts_[k], leads)) leads = false;
  };
  each([&](const plan& p, const work_cut&, bool leads) {
    if (p.chunks > 0)
      gpu::launch(ways_kernel<I>, static_cast<unsigned>(p.chunks), threads, 0, q, row_ptr_, p.l, p.taken, p.ways,
                  leads);
    return p.chunks > 0;
  });
  each([&](const plan& p, const work_cut&, bool leads) {
    if (p.groups > 0)
      gpu::launch(groups_kernel, static_cast<unsigned>(p.groups), gpu::each_threads, 0, q, p.rows, p.chunks, p.l,
                  p.ways, p.through, leads);
    return p.groups > 0;
  });
  each([&](const plan& p, const work_cut&, bool leads) {
    gpu::launch(begins_kernel, 1u, gpu::each_threads, 0, q, p.rows, p.chunks, p.l, p.ways,
                p.groups > 0 ? p.through : nullptr, p.begin, p.all, leads);
    return true;
  });
  each([&](const plan& p, work_cut& c, bool leads) {
    if (p.chunks == 0) return false;
    const auto blocks = static_cast<unsigned>(p.chunks);
    if (p.l.part == 0)
      gpu::launch(tiles_kernel<I>, blocks, threads, 0, q, row_ptr_, p.l, p.taken, p.begin, c.tiles.data(), leads);
    else
      gpu::launch(pieces_kernel<I>, blocks, threads, 0, q, row_ptr_, p.l, p.taken, p.begin, p.all, c.pieces.data(),
                  leads);
    return true;
  });
}

template <class I> void cuts_on_gpu<I>::finish() {
  static_assert(sizeof(gpu_cut::counts) == 2 * sizeof(std::int32_t));
  if (cuts_.empty()) return gpu::wait(gpu::current_queue());
  enqueue();
  const host_array<std::int32_t> found(counts_);
  for (std::size_t k = 0; k < cuts_.size(); ++k) {
    const index_t tiles = found[2 * index_t(k)], parts = found[2 * index_t(k) + 1];
    work_cut& c = cuts_[k];
    if (!c.tiles.empty()) c.tiles = gpu_cut::first_of(std::move(c.tiles), tiles);
    if (!c.pieces.empty()) c.pieces = gpu_cut::first_of(std::move(c.pieces), tiles + parts), c.slots = parts;
  }
}

template class cuts_on_gpu<std::int32_t>;
template class cuts_on_gpu<index_t>;

template <class I> gpu_array<std::uint8_t> ends_of_rows_on_gpu(cview<I> row_ptr, index_t nnz) {
  gpu_array<std::uint8_t> ends((nnz + 7) / 8); // padded to whole words
  const index_t words = (nnz + 31) / 32;
  if (words > 0) gpu::fill_bytes(ends.data(), 0, static_cast<std::size_t>(words) * 4, gpu::current_queue());
  gpu::for_each(nnz ? row_ptr.size - 1 : 0,
                gpu_cut::mark_end<I>{row_ptr.data, reinterpret_cast<unsigned*>(ends.data())});
  return ends;
}

template <class I> gpu_array<std::int32_t> cut_chunks_on_gpu(cview<I> row_ptr, index_t nnz, index_t parts) {
  gpu_array<std::int32_t> begin(parts + 1);
  gpu::for_each(parts + 1, gpu_cut::find_chunk<I>{row_ptr.data, row_ptr.size - 1, nnz, parts, begin.data()});
  return begin;
}

#define FURROW_CUT(I)                                                                                                  \
  template gpu_array<std::uint8_t> ends_of_rows_on_gpu(cview<I>, index_t);                                             \
  template gpu_array<std::int32_t> cut_chunks_on_gpu(cview<I>, index_t, index_t);
FURROW_CUT(std::int32_t)
FURROW_CUT(index_t)
#undef FURROW_CUT

} // namespace furrow::csr_format
