// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_look.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/dominance.hpp"
#include "core/row_sum.hpp"

#include <bit>
#include <limits>

namespace furrow {
namespace gpu_look {

using word = found_word;
constexpr double largest_number = std::numeric_limits<double>::max();

/// Where kernels leave what they found. Numbers that are not negative are compared by their bits.
enum place { zeros, stored_diagonal, zero_diagonal, negative_diagonal, small_diagonal, dominant, diagonals, counted };
enum extreme { lower, upper, norm_inf, largest, infinite, largest_row, least_row, outside, disordered, extremes };
static_assert(int(counted) + int(extremes) == look_words);

__device__ inline word bits(double v) { return static_cast<word>(__double_as_longlong(v)); }

struct found {
  word count[counted] = {}, most[extremes] = {};

  __device__ void raise(extreme e, word v) { most[e] = v > most[e] ? v : most[e]; }
  /// Over a warp, then for all.
  __device__ void leave(word* to) {
    __syncwarp();
    for (int d = gpu::warp / 2; d > 0; d /= 2) {
      for (word& c : count) c += gpu::from_lane_across<gpu::warp>(c, d);
      for (word& m : most) {
        const word other = gpu::from_lane_across<gpu::warp>(m, d);
        m = other > m ? other : m;
      }
    }
    if (threadIdx.x % gpu::warp != 0) return;
    for (int k = 0; k < counted; ++k)
      if (count[k]) atomicAdd(to + k, count[k]);
    for (int k = 0; k < extremes; ++k)
      if (most[k] > *static_cast<volatile word*>(to + counted + k)) atomicMax(to + counted + k, most[k]);
  }
};

/// Which diagonals have entries, a bit each: a block remembers what it has marked.
struct diagonal_marks {
  static constexpr int remembered = 1024;
  unsigned* bit; ///< of column - row + rows - 1
  int* mine;     ///< in shared memory: offsets, by their last bits

  static __device__ void forget(int* mine) {
    constexpr int no_offset = -0x7fffffff - 1;
    for (int k = static_cast<int>(threadIdx.x); k < remembered; k += gpu::each_threads) mine[k] = no_offset;
  }
  /// Whether the diagonal is a new one.
  __device__ bool add(int offset, index_t rows) const {
    volatile int* const last = mine + (offset & (remembered - 1));
    if (*last == offset) return false;
    *last = offset;
    const index_t at = offset + rows - 1;
    const unsigned mask = 1u << (at % 32);
    if (*static_cast<volatile unsigned*>(bit + at / 32) & mask) return false;
    return !(atomicOr(bit + at / 32, mask) & mask);
  }
};

struct row_found {
  double sum = 0, others = 0, most = 0, diagonal = 0;
};

constexpr int lanes_a_row = row_sum_lanes, rows_at_once = gpu::each_threads / lanes_a_row;

/// The entries [from, to) of row i, at most `row_sum_piece`: eight lanes, in the order of `row_sum`. All of them know
/// the sums.
template <class V>
__device__ row_found walk(const csr<V, index_t, cview>& a, index_t i, index_t from, index_t to, int rank,
                          const diagonal_marks& marks, found& f) {
  constexpr int batch = 4; // so that loads are under way together
  row_found r;
  const index_t begin = a.row_ptr[i];
  for (index_t base = from + rank; base < to; base += batch * lanes_a_row) {
    std::int32_t col[batch] = {}, before[batch] = {};
    V val[batch] = {};
#pragma unroll
    for (int n = 0; n < batch; ++n) {
      const index_t k = base + n * lanes_a_row;
      if (k >= to) continue;
      col[n] = a.col[k];
      val[n] = a.val[k];
      before[n] = k > begin ? a.col[k - 1] : -1;
    }
#pragma unroll
    for (int n = 0; n < batch; ++n) {
      if (base + n * lanes_a_row >= to) break;
      const double v = double(val[n]), size = fabs(v);
      if (col[n] < 0 || col[n] >= a.shape.cols) {
        f.most[outside] = 1;
        continue;
      }
      if (col[n] <= before[n]) f.most[disordered] = 1;
      const index_t offset = col[n] - i;
      if (offset < 0) f.raise(lower, static_cast<word>(-offset));
      else f.raise(upper, static_cast<word>(offset));
      f.count[diagonals] += marks.add(static_cast<int>(offset), a.shape.rows);
      f.count[zeros] += size == 0;
      if (!(size <= largest_number)) f.most[infinite] = 1;
      if (size > r.most) r.most = size; // never a NaN
      r.sum += size;
      if (offset == 0) r.diagonal = v;
      else r.others += size;
    }
  }
  for (int d = lanes_a_row / 2; d > 0; d /= 2) {
    r.sum += gpu::from_lane_across<lanes_a_row>(r.sum, d);
    r.others += gpu::from_lane_across<lanes_a_row>(r.others, d);
    r.diagonal += gpu::from_lane_across<lanes_a_row>(r.diagonal, d);
    const double other = gpu::from_lane_across<lanes_a_row>(r.most, d);
    r.most = other > r.most ? other : r.most;
  }
  return r;
}

/// The same for all entries of row i, by one thread, which keeps what each of the eight lanes would have.
template <class V>
__device__ row_found walk_alone(const csr<V, index_t, cview>& a, index_t i, index_t from, index_t to,
                                const diagonal_marks& marks, found& f) {
  row_found r;
  double sum[lanes_a_row] = {}, others[lanes_a_row] = {};
  std::int32_t before = -1, below = 0, above = 0;
  for (index_t base = from; base < to; base += lanes_a_row) {
    std::int32_t col[lanes_a_row] = {};
    V val[lanes_a_row] = {};
#pragma unroll
    for (int n = 0; n < lanes_a_row; ++n) {
      if (base + n >= to) break;
      col[n] = a.col[base + n];
      val[n] = a.val[base + n];
    }
#pragma unroll
    for (int n = 0; n < lanes_a_row; ++n) {
      if (base + n >= to) break;
      const double v = double(val[n]), size = fabs(v);
      const bool is_outside = col[n] < 0 || col[n] >= a.shape.cols;
      if (is_outside) f.most[outside] = 1;
      else if (col[n] <= before) f.most[disordered] = 1;
      before = col[n];
      if (is_outside) continue;
      const auto offset = static_cast<std::int32_t>(col[n] - i);
      below = offset < below ? offset : below;
      above = offset > above ? offset : above;
      f.count[diagonals] += marks.add(offset, a.shape.rows);
      f.count[zeros] += size == 0;
      if (!(size <= largest_number)) f.most[infinite] = 1;
      if (size > r.most) r.most = size;
      sum[n] += size;
      if (offset == 0) r.diagonal += v;
      else others[n] += size;
    }
  }
#pragma unroll
  for (int d = lanes_a_row / 2; d > 0; d /= 2)
#pragma unroll
    for (int n = 0; n < d; ++n) sum[n] += sum[n + d], others[n] += others[n + d];
  r.sum = sum[0], r.others = others[0];
  f.raise(lower, static_cast<word>(-index_t(below)));
  f.raise(upper, static_cast<word>(above));
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
  if (r.most > 0) {
    f.raise(largest_row, bits(r.most));
    f.raise(least_row, ~bits(r.most));
  }
}

/// Rows of more entries than this are long where a thread takes a row, which is where rows have up to 16 on average.
constexpr int longest_of_a_thread = 64, short_rows = 16;

/// Rows that are longer than a piece, or than a thread walks, and their pieces, those of a row one after the other.
struct long_rows {
  struct part {
    std::int32_t row, number;
  };
  unsigned* count; ///< of rows, and of pieces
  std::int32_t* row;
  unsigned* first; ///< piece of each of these rows
  part* piece;
  row_found* of_piece;

  static __device__ index_t pieces_of(index_t entries) { return (entries + row_sum_piece - 1) / row_sum_piece; }
  /// The first of its pieces.
  __device__ unsigned add(index_t i, unsigned pieces) const {
    const unsigned at = atomicAdd(count + 1, pieces), n = atomicAdd(count, 1u);
    row[n] = static_cast<std::int32_t>(i);
    first[n] = at;
    return at;
  }
  /// By all lanes of a row.
  __device__ void add(index_t i, index_t entries, int rank) const {
    const auto pieces = static_cast<unsigned>(pieces_of(entries));
    const unsigned at = gpu::from_lane<lanes_a_row>(rank == 0 ? add(i, pieces) : 0, 0);
    for (unsigned p = static_cast<unsigned>(rank); p < pieces; p += lanes_a_row)
      piece[at + p] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(p)};
  }
  /// By one thread.
  __device__ void add_alone(index_t i, index_t entries) const {
    const auto pieces = static_cast<unsigned>(pieces_of(entries));
    const unsigned at = add(i, pieces);
    for (unsigned p = 0; p < pieces; ++p) piece[at + p] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(p)};
  }
};

/// Eight lanes a row.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads)
    rows_kernel(csr<V, index_t, cview> a, const word* wrong, unsigned* bit, long_rows apart, word* to) {
  __shared__ int mine[diagonal_marks::remembered];
  diagonal_marks::forget(mine);
  gpu::take_turn();
  __syncthreads();
  if (*wrong) return;
  const diagonal_marks marks{bit, mine};
  const int rank = static_cast<int>(threadIdx.x) % lanes_a_row;
  found f;
  for (index_t i = index_t(blockIdx.x) * rows_at_once + threadIdx.x / lanes_a_row; i < a.shape.rows;
       i += index_t(gridDim.x) * rows_at_once) {
    const index_t from = a.row_ptr[i], end = a.row_ptr[i + 1];
    if (end - from > row_sum_piece) {
      apart.add(i, end - from, rank);
      continue;
    }
    const row_found r = walk(a, i, from, end, rank, marks, f);
    if (rank == 0) tell(r, f);
  }
  f.leave(to);
}

/// A thread a row: where rows are short, eight lanes a row are idle for the most part (7 entries on a grid), and what
/// all rows need once is done for an eighth of the rows at a time.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads)
    short_rows_kernel(csr<V, index_t, cview> a, const word* wrong, unsigned* bit, long_rows apart, word* to) {
  __shared__ int mine[diagonal_marks::remembered];
  diagonal_marks::forget(mine);
  gpu::take_turn();
  __syncthreads();
  if (*wrong) return;
  const diagonal_marks marks{bit, mine};
  found f;
  const index_t stride = index_t(gridDim.x) * gpu::each_threads;
  for (index_t i = index_t(blockIdx.x) * gpu::each_threads + threadIdx.x; i < a.shape.rows; i += stride) {
    const index_t from = a.row_ptr[i], end = a.row_ptr[i + 1];
    if (end - from > longest_of_a_thread) apart.add_alone(i, end - from);
    else tell(walk_alone(a, i, from, end, marks, f), f);
  }
  f.leave(to);
}

/// Eight lanes a piece of a long row.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads)
    pieces_kernel(csr<V, index_t, cview> a, unsigned* bit, long_rows apart, word* to) {
  __shared__ int mine[diagonal_marks::remembered];
  diagonal_marks::forget(mine);
  gpu::take_turn();
  __syncthreads();
  const diagonal_marks marks{bit, mine};
  const int rank = static_cast<int>(threadIdx.x) % lanes_a_row;
  const unsigned pieces = apart.count[1];
  found f;
  for (unsigned g = blockIdx.x * rows_at_once + threadIdx.x / lanes_a_row; g < pieces; g += gridDim.x * rows_at_once) {
    const long_rows::part p = apart.piece[g];
    const index_t from = a.row_ptr[p.row] + index_t(p.number) * row_sum_piece, end = a.row_ptr[p.row + 1];
    const row_found r = walk(a, p.row, from, end - from < row_sum_piece ? end : from + row_sum_piece, rank, marks, f);
    if (rank == 0) apart.of_piece[g] = r;
  }
  f.leave(to);
}

/// A thread a long row: its pieces in their order.
__global__ void __launch_bounds__(gpu::each_threads)
    long_rows_kernel(const index_t* row_ptr, long_rows apart, word* to) {
  gpu::take_turn();
  found f;
  const unsigned rows = apart.count[0], stride = gridDim.x * gpu::each_threads;
  for (unsigned n = blockIdx.x * gpu::each_threads + threadIdx.x; n < rows; n += stride) {
    const index_t i = apart.row[n], pieces = long_rows::pieces_of(row_ptr[i + 1] - row_ptr[i]);
    row_found all;
#pragma unroll 8
    for (index_t p = 0; p < pieces; ++p) {
      const row_found one = apart.of_piece[apart.first[n] + p];
      all.sum += one.sum;
      all.others += one.others;
      all.diagonal += one.diagonal;
      all.most = one.most > all.most ? one.most : all.most;
    }
    tell(all, f);
  }
  f.leave(to);
}

} // namespace gpu_look

template <class V>
void enqueue_look(const csr<V, index_t, cview>& a, index_t most_entries, const found_word* wrong, found_word* to) {
  using namespace gpu_look;
  const gpu::queue& q = gpu::current_queue();
  gpu_array<unsigned> bit((a.shape.rows + a.shape.cols) / 32 + 1), count(2);
  gpu::fill_bytes(bit, 0);
  gpu::fill_bytes(count, 0);
  const bool alone = most_entries <= short_rows * a.shape.rows;
  const index_t longest = alone ? longest_of_a_thread : row_sum_piece;
  const index_t most_rows = most_entries / longest + 1, most_pieces = most_rows + most_entries / row_sum_piece + 1;
  gpu_array<std::int32_t> row(most_rows);
  gpu_array<unsigned> first(most_rows);
  gpu_array<long_rows::part> piece(most_pieces);
  gpu_array<row_found> of_piece(most_pieces);
  const long_rows apart{count.data(), row.data(), first.data(), piece.data(), of_piece.data()};
  if (alone)
    gpu::launch(short_rows_kernel<V>, gpu::blocks_for(a.shape.rows, gpu::each_threads, q, 8), gpu::each_threads, 0, q,
                a, wrong, bit.data(), apart, to);
  else
    gpu::launch(rows_kernel<V>, gpu::blocks_for(a.shape.rows * lanes_a_row, gpu::each_threads, q, 8), gpu::each_threads,
                0, q, a, wrong, bit.data(), apart, to);
  if (most_entries <= longest) return;
  gpu::launch(pieces_kernel<V>, gpu::blocks_for(most_pieces * lanes_a_row, gpu::each_threads, q, 8), gpu::each_threads,
              0, q, a, bit.data(), apart, to);
  gpu::launch(long_rows_kernel, gpu::blocks_for(most_rows, gpu::each_threads, q, 1), gpu::each_threads, 0, q,
              a.row_ptr.data, apart, to);
}
template void enqueue_look(const csr<double, index_t, cview>&, index_t, const found_word*, found_word*);
template void enqueue_look(const csr<float, index_t, cview>&, index_t, const found_word*, found_word*);

rows_look look_found(const found_word* home) {
  using namespace gpu_look;
  const auto count = [&](place p) { return static_cast<index_t>(home[p]); };
  const auto most = [&](extreme e) { return home[int(counted) + int(e)]; };
  rows_look l;
  l.explicit_zeros = count(zeros);
  l.stored_diagonal = count(stored_diagonal);
  l.zero_diagonal = count(zero_diagonal);
  l.negative_diagonal = count(negative_diagonal);
  l.small_diagonal = count(small_diagonal);
  l.dominant = count(dominant);
  l.diagonals = count(diagonals);
  l.lower_bandwidth = static_cast<index_t>(most(lower));
  l.upper_bandwidth = static_cast<index_t>(most(upper));
  l.norm_inf = std::bit_cast<double>(most(norm_inf));
  l.largest = std::bit_cast<double>(most(largest));
  l.finite = most(infinite) == 0;
  l.largest_row = std::bit_cast<double>(most(largest_row));
  l.least_row = most(least_row) ? std::bit_cast<double>(~most(least_row)) : std::numeric_limits<double>::infinity();
  return l;
}

column_faults faults_found(const found_word* home) {
  using namespace gpu_look;
  return {home[int(counted) + int(outside)] != 0, home[int(counted) + int(disordered)] != 0};
}

template <class V> rows_look look_at_rows(const rows_on_gpu<V>& a) {
  gpu_array<found_word> there(look_words + 1);
  gpu::fill_bytes(there, 0);
  enqueue_look(a.view(), a.nnz(), there.data() + look_words, there.data());
  return look_found(host_array<found_word>(there).data());
}

template rows_look look_at_rows(const rows_on_gpu<double>&);
template rows_look look_at_rows(const rows_on_gpu<float>&);

} // namespace furrow
