// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_look.hpp"

#include "gpu_block_counts.hpp"
#include "gpu_lengths.hpp"
#include "gpu_look_found.hpp"

#include "backends/gpu/reduce.hpp"
#include "core/dominance.hpp"
#include "core/row_sum.hpp"

#include <bit>
#include <limits>
#include <memory>
#include <utility>

namespace furrow {
namespace gpu_look {

constexpr double largest_number = std::numeric_limits<double>::max();

struct row_found {
  double sum = 0, others = 0, most = 0, diagonal = 0;
};

constexpr int lanes_a_row = row_sum_lanes, rows_at_once = gpu::each_threads / lanes_a_row;

/// Adds to the sum of each of eight lanes what `Lanes` have, in their order: those of the first eight, then of the
/// next. What a lane has not got is 0, which changes no sum of what is not negative.
template <int Lanes> __device__ inline void add_in_order(double mine, int rank, double& sum) {
#pragma unroll
  for (int first = 0; first < Lanes; first += lanes_a_row)
    sum += gpu::from_lane<Lanes>(mine, first + rank % lanes_a_row);
}

/// Where rows lie in the whole matrix of which they may be a part: the number of the first one.
struct place_of_rows {
  index_t first, rows;
  __device__ index_t of(index_t i) const { return first + i; }
  __device__ index_t end() const { return first + rows; }
};

constexpr int batch = 4; ///< entries of a lane, so that loads are under way together

/// The entries [from, to) of row i, which begins at `begin`, at most `row_sum_piece`: by eight lanes or a warp, in the
/// order of `row_sum`. All of them know the sums.
template <int Lanes, class V>
__device__ row_found walk(const csr<V, index_t, cview>& a, place_of_rows place, index_t i, index_t from, index_t to,
                          int rank, index_t begin, const diagonal_marks& marked, diagonal_marks::last_ones<batch>& last,
                          found& f) {
  row_found r;
  // All lanes take as many turns, for they add each other's.
  for (index_t turn = from; turn < to; turn += batch * Lanes) {
    const index_t base = turn + rank;
    std::int32_t col[batch] = {}, before[batch] = {};
    int apart[batch];
    bool is[batch];
    V val[batch] = {};
#pragma unroll
    for (int n = 0; n < batch; ++n) {
      const index_t k = base + n * Lanes;
      if (k >= to) continue;
      col[n] = a.col[k];
      val[n] = a.val[k];
      before[n] = k > begin ? a.col[k - 1] : -1;
    }
#pragma unroll
    for (int n = 0; n < batch; ++n) {
      const double v = double(val[n]), size = fabs(v);
      is[n] = base + n * Lanes < to;
      apart[n] = static_cast<int>(col[n] - place.of(i));
      if (!is[n]) continue;
      if (col[n] < 0 || col[n] >= a.shape.cols) {
        f.most[outside] = 1;
        is[n] = false;
        continue;
      }
      if (col[n] <= before[n]) f.most[disordered] = 1;
      if (apart[n] < 0) f.raise(lower, static_cast<unsigned>(-apart[n]));
      else f.raise(upper, static_cast<unsigned>(apart[n]));
      f.count[zeros] += size == 0;
      if (!(size <= largest_number)) f.most[infinite] = 1;
      if (size > r.most) r.most = size; // never a NaN
      if (apart[n] == 0) r.diagonal = v;
      if constexpr (Lanes > lanes_a_row) continue;
      r.sum += size;
      if (apart[n] != 0) r.others += size;
    }
    if constexpr (Lanes > lanes_a_row)
#pragma unroll
      for (int n = 0; n < batch; ++n) {
        const double size = is[n] ? fabs(double(val[n])) : 0;
        add_in_order<Lanes>(size, rank, r.sum);
        add_in_order<Lanes>(apart[n] != 0 ? size : 0, rank, r.others);
      }
    marked.add(apart, is, last, place.end());
  }
  for (int d = lanes_a_row / 2; d > 0; d /= 2) {
    r.sum += gpu::from_lane_across<lanes_a_row>(r.sum, d);
    r.others += gpu::from_lane_across<lanes_a_row>(r.others, d);
  }
  for (int d = Lanes / 2; d > 0; d /= 2) {
    r.diagonal += gpu::from_lane_across<Lanes>(r.diagonal, d);
    const double other = gpu::from_lane_across<Lanes>(r.most, d);
    r.most = other > r.most ? other : r.most;
  }
  return r;
}

/// The same for all entries of row i, by one thread, which keeps what each of the eight lanes would have.
template <class V>
__device__ row_found walk_alone(const csr<V, index_t, cview>& a, place_of_rows place, index_t i, index_t from,
                                index_t to, const diagonal_marks& marked, diagonal_marks::last_ones<lanes_a_row>& last,
                                found& f) {
  row_found r;
  double sum[lanes_a_row] = {}, others[lanes_a_row] = {};
  std::int32_t before = -1, below = 0, above = 0;
  for (index_t base = from; base < to; base += lanes_a_row) {
    std::int32_t col[lanes_a_row] = {};
    int apart[lanes_a_row];
    bool is[lanes_a_row];
    V val[lanes_a_row] = {};
#pragma unroll
    for (int n = 0; n < lanes_a_row; ++n) {
      if (base + n >= to) break;
      col[n] = a.col[base + n];
      val[n] = a.val[base + n];
    }
#pragma unroll
    for (int n = 0; n < lanes_a_row; ++n) {
      const double v = double(val[n]), size = fabs(v);
      apart[n] = static_cast<int>(col[n] - place.of(i));
      is[n] = base + n < to;
      if (!is[n]) continue;
      is[n] = col[n] >= 0 && col[n] < a.shape.cols;
      if (!is[n]) f.most[outside] = 1;
      else if (col[n] <= before) f.most[disordered] = 1;
      before = col[n];
      if (!is[n]) continue;
      below = apart[n] < below ? apart[n] : below;
      above = apart[n] > above ? apart[n] : above;
      f.count[zeros] += size == 0;
      if (!(size <= largest_number)) f.most[infinite] = 1;
      if (size > r.most) r.most = size;
      sum[n] += size;
      if (apart[n] == 0) r.diagonal += v;
      else others[n] += size;
    }
    marked.add(apart, is, last, place.end());
  }
#pragma unroll
  for (int d = lanes_a_row / 2; d > 0; d /= 2)
#pragma unroll
    for (int n = 0; n < d; ++n) sum[n] += sum[n + d], others[n] += others[n + d];
  r.sum = sum[0], r.others = others[0];
  f.raise(lower, static_cast<unsigned>(-below));
  f.raise(upper, static_cast<unsigned>(above));
  return r;
}

__device__ inline void tell(const row_found& r, found& f) {
  const double own = fabs(r.diagonal);
  f.count[stored_diagonal] += own != 0;
  f.count[zero_diagonal] += own == 0;
  f.count[negative_diagonal] += r.diagonal < 0;
  f.count[small_diagonal] += own != 0 && own < 1e-10 * r.most;
  f.count[dominant] += dominates(own, r.others);
  if (r.sum == r.sum) f.raise(norm_inf, bits(r.sum));
  f.raise(largest, bits(r.most));
  if (r.most > 0) f.raise(least_row, ~bits(r.most));
}

/// Rows of more entries than this are long where a thread takes a row, which is where rows have up to 16 on average.
constexpr int longest_of_a_thread = 64, short_rows = 16;

/// Pieces of the rows that are longer than a thread walks or than a piece, those of a row one after the other; and rows
/// of more than one piece.
struct long_rows {
  static constexpr unsigned alone = ~0u;
  struct part {
    std::int32_t row;
    unsigned number, of; ///< of: place in the list of rows, or `alone`
  };
  struct row {
    unsigned first, arrived; ///< what it leaves, and pieces that are done
  };
  unsigned* count; ///< of pieces, of rows in the list, and of their pieces
  part* piece;
  row* rows;
  row_found* of_piece;
  unsigned most_pieces, most_rows, most_kept; ///< that there is room for: wrong offsets may say that there are more

  static __device__ index_t pieces_of(index_t entries) { return (entries + row_sum_piece - 1) / row_sum_piece; }
  /// By `Lanes` threads.
  template <int Lanes> __device__ void add(index_t i, index_t entries, int rank) const {
    const auto pieces = static_cast<unsigned>(pieces_of(entries));
    unsigned at = 0, n = alone, kept = 0;
    if (rank == 0) {
      at = atomicAdd(count, pieces);
      if (pieces > 1) n = atomicAdd(count + 1, 1u), kept = atomicAdd(count + 2, pieces);
    }
    if constexpr (Lanes > 1) {
      at = gpu::from_lane<Lanes>(at, 0);
      n = gpu::from_lane<Lanes>(n, 0);
      kept = gpu::from_lane<Lanes>(kept, 0);
    }
    if (at >= most_pieces || pieces > most_pieces - at) return;
    if (pieces > 1 && (n >= most_rows || kept >= most_kept || pieces > most_kept - kept)) return;
    if (rank == 0 && pieces > 1) rows[n] = {kept, 0};
    for (unsigned p = static_cast<unsigned>(rank); p < pieces; p += Lanes)
      piece[at + p] = {static_cast<std::int32_t>(i), p, n};
  }
  /// What the pieces of row n have found, once all of them are done; by one thread of each piece.
  __device__ bool join(unsigned n, unsigned number, unsigned pieces, row_found& r) const {
    const unsigned first = rows[n].first;
    of_piece[first + number] = r;
    if (!gpu::arrives_last(&rows[n].arrived, pieces)) return false;
    r = {};
#pragma unroll 8
    for (unsigned p = 0; p < pieces; ++p) {
      const volatile row_found& one = of_piece[first + p];
      r.sum += one.sum;
      r.others += one.others;
      r.diagonal += one.diagonal;
      r.most = one.most > r.most ? one.most : r.most;
    }
    return true;
  }
};

/// Eight lanes a row.
template <class V, class I>
__global__ void __launch_bounds__(gpu::each_threads)
    rows_kernel(csr<V, index_t, cview> a, place_of_rows place, given_offsets<I> offsets, unsigned* bit, long_rows apart,
                word* to) {
  __shared__ diagonal_marks::memory mine;
  const auto marked = diagonal_marks::begin(bit, mine);
  const int rank = static_cast<int>(threadIdx.x) % lanes_a_row;
  diagonal_marks::last_ones<batch> last;
  found f;
  offsets.look_at_ends(f, to);
  for (index_t i = index_t(blockIdx.x) * rows_at_once + threadIdx.x / lanes_a_row; i < a.shape.rows;
       i += index_t(gridDim.x) * rows_at_once) {
    const auto [from, end] = offsets.of(i, rank == 0, f);
    if (end - from > row_sum_piece) {
      apart.add<lanes_a_row>(i, end - from, rank);
      continue;
    }
    const row_found r = walk<lanes_a_row>(a, place, i, from, end, rank, from, marked, last, f);
    if (rank == 0) tell(r, f);
  }
  marked.end(place.end());
  f.leave(to);
}

/// A thread a row: where rows are short, eight lanes a row are idle for the most part (7 entries on a grid), and what
/// all rows need once is done for an eighth of the rows at a time.
template <class V, class I>
__global__ void __launch_bounds__(gpu::each_threads)
    short_rows_kernel(csr<V, index_t, cview> a, place_of_rows place, given_offsets<I> offsets, unsigned* bit,
                      long_rows apart, word* to) {
  __shared__ diagonal_marks::memory mine;
  const auto marked = diagonal_marks::begin(bit, mine);
  diagonal_marks::last_ones<lanes_a_row> last;
  found f;
  offsets.look_at_ends(f, to);
  const index_t stride = index_t(gridDim.x) * gpu::each_threads;
  for (index_t i = index_t(blockIdx.x) * gpu::each_threads + threadIdx.x; i < a.shape.rows; i += stride) {
    const auto [from, end] = offsets.of(i, true, f);
    if (end - from > longest_of_a_thread) apart.add<1>(i, end - from, 0);
    else tell(walk_alone(a, place, i, from, end, marked, last, f), f);
  }
  marked.end(place.end());
  f.leave(to);
}

/// A warp a piece of a long row: eight lanes would take 32 turns for one, each a trip or two to memory. The last one of
/// a row takes its pieces in their order.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads)
    pieces_kernel(csr<V, index_t, cview> a, place_of_rows place, unsigned* bit, long_rows apart, word* to) {
  __shared__ diagonal_marks::memory mine;
  const auto marked = diagonal_marks::begin(bit, mine);
  const unsigned pieces = apart.count[0];
  if (pieces == 0 || to[wrong_word]) return; // the whole grid
  constexpr int pieces_at_once = gpu::each_threads / gpu::warp;
  const int rank = static_cast<int>(threadIdx.x) % gpu::warp;
  diagonal_marks::last_ones<batch> last;
  found f;
  for (unsigned g = blockIdx.x * pieces_at_once + threadIdx.x / gpu::warp; g < pieces;
       g += gridDim.x * pieces_at_once) {
    const long_rows::part p = apart.piece[g];
    const index_t begin = a.row_ptr[p.row], end = a.row_ptr[p.row + 1];
    const index_t from = begin + index_t(p.number) * row_sum_piece;
    row_found r = walk<gpu::warp>(a, place, p.row, from, end - from < row_sum_piece ? end : from + row_sum_piece, rank,
                                  begin, marked, last, f);
    if (rank != 0) continue;
    if (p.of != long_rows::alone &&
        !apart.join(p.of, p.number, static_cast<unsigned>(long_rows::pieces_of(end - begin)), r))
      continue;
    tell(r, f);
  }
  marked.end(place.end());
  f.leave(to);
}

/// Words on the GPU: what comes home, then what else is zeros before, then room.
struct room_of_look {
  bool alone;      ///< a thread takes a row
  index_t longest; ///< row that is walked at once
  index_t most_pieces, most_rows, most_kept;
  index_t lengths, blocks, home, counts, bits, zeros, far, pieces, rows, of_pieces, all;

  room_of_look(shape2 shape, index_t most_entries)
      : alone(most_entries <= short_rows * shape.rows), longest(alone ? longest_of_a_thread : row_sum_piece),
        most_pieces(most_entries / longest + most_entries / row_sum_piece + 2),
        most_rows(most_entries / row_sum_piece + 1), most_kept(2 * most_rows) {
    index_t at = words;
    const auto take = [&](index_t bytes) { return std::exchange(at, at + (bytes + 7) / 8); };
    lengths = take(8 * length_words);
    blocks = take(8 * block_sample_words);
    home = at;
    counts = take(3 * 4);
    bits = take(((shape.rows + shape.cols) / 32 + 1) * 4);
    zeros = at;
    far = take(8 * far_length_words(most_entries));
    pieces = take(most_pieces * index_t(sizeof(long_rows::part)));
    rows = take(most_rows * index_t(sizeof(long_rows::row)));
    of_pieces = take(most_kept * index_t(sizeof(row_found)));
    all = at;
  }
};

} // namespace gpu_look

look_under_way::look_under_way(shape2 shape, index_t most_entries)
    : shape_(shape), most_entries_(most_entries), words_(gpu_look::room_of_look(shape, most_entries).all) {
  gpu::fill_bytes(words_.data(), 0,
                  static_cast<std::size_t>(gpu_look::room_of_look(shape, most_entries).zeros) * sizeof(found_word),
                  gpu::current_queue());
}

template <class V, class I>
void look_under_way::enqueue(const csr<V, index_t, cview>& a, const I* given, index_t first) {
  using namespace gpu_look;
  const gpu::queue& q = gpu::current_queue();
  const room_of_look at(shape_, most_entries_);
  word* const to = words_.data();
  auto* const bit = reinterpret_cast<unsigned*>(to + at.bits);
  const long_rows apart{reinterpret_cast<unsigned*>(to + at.counts),
                        reinterpret_cast<long_rows::part*>(to + at.pieces),
                        reinterpret_cast<long_rows::row*>(to + at.rows),
                        reinterpret_cast<row_found*>(to + at.of_pieces),
                        static_cast<unsigned>(at.most_pieces),
                        static_cast<unsigned>(at.most_rows),
                        static_cast<unsigned>(at.most_kept)};
  const place_of_rows place{first, shape_.rows};
  const bool are_here = static_cast<const void*>(given) == a.row_ptr.data;
  const given_offsets<I> offsets{given, are_here ? nullptr : const_cast<index_t*>(a.row_ptr.data), shape_.rows,
                                 most_entries_};
  if (at.alone)
    gpu::launch(short_rows_kernel<V, I>, gpu::blocks_for(shape_.rows, gpu::each_threads, q, 8), gpu::each_threads, 0, q,
                a, place, offsets, bit, apart, to);
  else
    gpu::launch(rows_kernel<V, I>, gpu::blocks_for(shape_.rows * lanes_a_row, gpu::each_threads, q, 8),
                gpu::each_threads, 0, q, a, place, offsets, bit, apart, to);
  if (most_entries_ > at.longest)
    gpu::launch(pieces_kernel<V>, gpu::blocks_for(at.most_pieces * gpu::warp, gpu::each_threads, q, 8),
                gpu::each_threads, 0, q, a, place, bit, apart, to);
  const marked_bits diagonals_seen{bit, (shape_.rows + shape_.cols) / 32 + 1, to + int(diagonals)};
  enqueue_lengths(shape_.rows, a.row_ptr.data, to + wrong_word, to + at.lengths, to + at.far, diagonals_seen);
  if (most_entries_ >= blocks_sampled_from && shape_.rows > 0)
    sample_blocks(shape_.rows, a.row_ptr.data, a.col.data, to + wrong_word, to + at.blocks);
}
#define FURROW_LOOK(V, I) template void look_under_way::enqueue(const csr<V, index_t, cview>&, const I*, index_t);
FURROW_LOOK(double, std::int32_t)
FURROW_LOOK(double, std::int64_t)
FURROW_LOOK(float, std::int32_t)
FURROW_LOOK(float, std::int64_t)
#undef FURROW_LOOK

seen_rows look_under_way::finish() {
  using namespace gpu_look;
  const room_of_look at(shape_, most_entries_);
  host_array<word> home(at.home);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, words_.data(), home.byte_count());
  const auto count = [&](place p) { return static_cast<index_t>(home[p]); };
  const auto widest = [&](extreme e) { return home[first_extreme + int(e)]; };
  const auto most = [&](mark m) { return home[first_mark + int(m)]; };
  seen_rows seen;
  seen.entries = static_cast<index_t>(home[entries_word]);
  seen.wrong = home[wrong_word] != 0 || most(outside) != 0;
  seen.disordered = most(disordered) != 0;
  if (home[wrong_word]) return seen;
  rows_look& l = seen.look;
  l.explicit_zeros = count(zeros);
  l.stored_diagonal = count(stored_diagonal);
  l.zero_diagonal = count(zero_diagonal);
  l.negative_diagonal = count(negative_diagonal);
  l.small_diagonal = count(small_diagonal);
  l.dominant = count(dominant);
  l.diagonals = count(diagonals);
  l.lower_bandwidth = static_cast<index_t>(most(lower));
  l.upper_bandwidth = static_cast<index_t>(most(upper));
  l.norm_inf = std::bit_cast<double>(widest(norm_inf));
  l.largest = std::bit_cast<double>(widest(largest));
  l.finite = most(infinite) == 0;
  l.largest_row = l.largest;
  l.least_row = widest(least_row) ? std::bit_cast<double>(~widest(least_row)) : std::numeric_limits<double>::infinity();
  auto first = std::make_shared<first_facts>();
  first->lengths = lengths_found(home.data() + at.lengths, words_.data() + at.far);
  if (seen.entries >= blocks_sampled_from) first->edges = judge_edges(home.data() + at.blocks);
  l.first = std::move(first);
  return seen;
}

template <class V> rows_look look_at_rows(const rows_on_gpu<V>& a, index_t first) {
  look_under_way look(a.shape, a.nnz());
  look.enqueue(a.view(), a.row_ptr.data(), first);
  return look.finish().look;
}

template rows_look look_at_rows(const rows_on_gpu<double>&, index_t);
template rows_look look_at_rows(const rows_on_gpu<float>&, index_t);

} // namespace furrow
