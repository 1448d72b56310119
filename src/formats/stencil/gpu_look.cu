// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_hash.hpp"
#include "stencils.hpp"

#include "matrix/gpu_format_look.hpp"

namespace furrow {
namespace gpu_stencil_look {

using namespace gpu_stencils;

enum place { different_first, pairs, changes, entries, frequent, single, places };
/// Stencils that several of the rows have, and those of one row: what comes home with the counts, two words each. The
/// others wait on the GPU.
constexpr index_t near_frequent = 384, near_single = 128;
constexpr index_t words = places + 2 * (near_frequent + near_single);
constexpr index_t most_frequent = stencils_counted / 2, most_single = stencils_counted;
constexpr index_t lists = 2 * (most_frequent + most_single), room = lists + stencils_counted; // and hashes of rows

constexpr int rows_each = 64, own_places = 256;
constexpr index_t all_places = 2 * stencils_counted;
constexpr index_t table_words = all_places * 5 / 2; // a hash and three halves of a word

/// An open table that is at most half full: every byte of it is 0xff before.
struct seen_hashes {
  word* hash;
  unsigned *uses, *first, *leads; ///< uses less one; the first row; whether it was seen in the first row of a run

  __device__ void add(word h, unsigned rows, unsigned row, bool leading, word* different) const {
    index_t at = static_cast<index_t>(h) & (all_places - 1);
    for (;; at = (at + 1) & (all_places - 1)) {
      const word there = *static_cast<volatile word*>(hash + at);
      if (there == h) break;
      if (there != nothing) continue;
      const word before = atomicCAS(hash + at, nothing, h);
      if (before == nothing || before == h) break;
    }
    atomicAdd(uses + at, rows);
    atomicMin(first + at, row);
    if (leading && atomicExch(leads + at, 1u) != 1) atomicAdd(different, word(1));
  }
};

/// The hash of each row that is looked at, `nothing` where there is none, and all of them in the table: a block counts
/// its own before, for rows in a row are often alike.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads)
    hashes_kernel(csr<V, index_t, cview> a, sampled_runs runs, word* hashes, seen_hashes all, word* found) {
  __shared__ word own[own_places];
  __shared__ unsigned uses[own_places], first[own_places], leads[own_places];
  for (int k = static_cast<int>(threadIdx.x); k < own_places; k += gpu::each_threads)
    own[k] = nothing, uses[k] = 0, first[k] = ~0u, leads[k] = 0;
  const gpu::beside_others turn;
  __syncthreads();
  const gpu::lane_group<walking_lanes> lane;
  const index_t begin = index_t(blockIdx.x) * rows_each, total = runs.total();
  const index_t end = begin + rows_each < total ? begin + rows_each : total;
  for (index_t n = begin + threadIdx.x / walking_lanes; n < end; n += gpu::each_threads / walking_lanes) {
    const index_t row = runs.row_at(n);
    const word h = row < 0 ? nothing : hash_of_row(lane, a, row);
    if (lane.rank != 0) continue;
    hashes[n] = h;
    if (row < 0) continue;
    int at = static_cast<int>(h % own_places);
    for (;; at = (at + 1) % own_places) {
      const word before = atomicCAS(own + at, nothing, h);
      if (before == nothing || before == h) break;
    }
    atomicAdd(uses + at, 1u);
    atomicMin(first + at, static_cast<unsigned>(row));
    if (runs.leads(n, row)) leads[at] = 1;
  }
  __syncthreads();
  static_assert(own_places == gpu::each_threads && rows_each < own_places);
  const int k = static_cast<int>(threadIdx.x);
  if (own[k] != nothing) all.add(own[k], uses[k], first[k], leads[k] != 0, found + different_first);
}

/// A place in a list for each lane that wants one.
__device__ inline word place_in(word* count, bool wants) {
  const gpu::lane_group<gpu::warp> lanes;
  const unsigned votes = lanes.vote(wants);
  word from = 0;
  if (lanes.rank == 0 && votes) from = atomicAdd(count, static_cast<word>(__popc(votes)));
  return gpu::from_lane<gpu::warp>(from, 0) + static_cast<word>(lanes.votes_before(votes));
}

struct listed {
  word* near;
  index_t near_count;
  word* far;
  __device__ void put(word at, unsigned uses, unsigned first, index_t count) const {
    const word key = static_cast<word>(uses) << 32 | first;
    far[2 * at] = key;
    far[2 * at + 1] = static_cast<word>(count);
    if (static_cast<index_t>(at) >= near_count) return;
    near[2 * at] = key;
    near[2 * at + 1] = static_cast<word>(count);
  }
};

/// A thread for a place of the table and for a row that was looked at.
__global__ void __launch_bounds__(gpu::each_threads)
    list_kernel(const index_t* row_ptr, sampled_runs runs, const word* hashes, seen_hashes all, word* found,
                listed frequent_ones, listed single_ones) {
  gpu::take_turn();
  const index_t n = index_t(blockIdx.x) * gpu::each_threads + threadIdx.x; // < all_places
  bool pair = false;
  if (n > 0 && n < runs.total()) {
    const index_t row = runs.row_at(n);
    pair = row >= 0 && runs.row_at(n - 1) + 1 == row;
  }
  const int pairs_here = __syncthreads_count(pair);
  const int changes_here = __syncthreads_count(pair && hashes[n] != hashes[n - 1]);
  if (threadIdx.x == 0 && pairs_here) atomicAdd(found + pairs, static_cast<word>(pairs_here));
  if (threadIdx.x == 0 && changes_here) atomicAdd(found + changes, static_cast<word>(changes_here));
  const bool taken = all.hash[n] != nothing;
  const unsigned uses = taken ? all.uses[n] + 1 : 0, first = taken ? all.first[n] : 0;
  const index_t count = taken ? row_ptr[first + 1] - row_ptr[first] : 0;
  const gpu::lane_group<gpu::warp> lanes;
  const index_t sum = lanes.sum(count * uses);
  if (lanes.rank == 0 && sum) atomicAdd(found + entries, static_cast<word>(sum));
  const word as_frequent = place_in(found + frequent, uses > 1), as_single = place_in(found + single, uses == 1);
  if (uses > 1) frequent_ones.put(as_frequent, uses, first, count);
  if (uses == 1) single_ones.put(as_single, uses, first, count);
}

template <class V> void begin(const csr<V, index_t, cview>& a, const stats& sizes, const gpu_format_look::memory& at) {
  const sampled_runs runs = sampled_runs::of(sizes);
  word* const hashes = at.room + lists;
  auto* const halves = reinterpret_cast<unsigned*>(at.ones + all_places);
  const seen_hashes all{at.ones, halves, halves + all_places, halves + 2 * all_places};
  const gpu::queue& q = gpu::current_queue();
  gpu::launch(hashes_kernel<V>, static_cast<unsigned>((runs.total() + rows_each - 1) / rows_each), gpu::each_threads, 0,
              q, a, runs, hashes, all, at.words);
  word* const near = at.words + places;
  gpu::launch(list_kernel, static_cast<unsigned>(all_places / gpu::each_threads), gpu::each_threads, 0, q,
              a.row_ptr.data, runs, hashes, all, at.words, listed{near, near_frequent, at.room},
              listed{near + 2 * near_frequent, near_single, at.room + 2 * most_frequent});
}

/// Adds `count` stencils of a list, from `far` where they did not all come home.
void add_listed(std::vector<seen_stencil>& to, index_t count, const word* near, index_t near_count, const word* far) {
  host_array<word> fetched(count > near_count ? 2 * count : 0);
  if (!fetched.empty()) copy_bytes(host_memory{}, fetched.data(), gpu_memory{}, far, fetched.byte_count());
  const word* const from = fetched.empty() ? near : fetched.data();
  for (index_t k = 0; k < count; ++k)
    to.push_back({{static_cast<index_t>(from[2 * k] & 0xffffffffu), 0, static_cast<index_t>(from[2 * k + 1])},
                  0,
                  static_cast<index_t>(from[2 * k] >> 32)});
}

/// Stencils of one row are of no account where those of several rows fill a small table.
estimate_numbers numbers(const stats& s, const word* home, const word* far) {
  const sampled_runs runs = sampled_runs::of(s);
  const auto number = [&](place p) { return static_cast<index_t>(home[p]); };
  if (hardly_shared(number(different_first), runs.count)) return row_stencils{}.numbers();
  std::vector<seen_stencil> found;
  add_listed(found, number(frequent), home + places, near_frequent, far);
  index_t filled = 0, seen = 0;
  for (const seen_stencil& one : found) {
    filled += one.first.count + 1;
    seen += one.uses;
  }
  seen += number(single);
  if (filled <= small_stencil_table)
    add_listed(found, number(single), home + places + 2 * near_frequent, near_single, far + 2 * most_frequent);
  return table_of(found, seen, number(entries), number(pairs), number(changes)).numbers();
}

} // namespace gpu_stencil_look

namespace stencil_format {

/// Stencils are told apart by 63 bits of a hash alone: in a sample of 32768 rows two differ unnoticed once in 2^33
/// matrices.
extern const gpu_format_look gpu_look{"stencil",
                                      gpu_stencil_look::words,
                                      gpu_stencil_look::table_words,
                                      gpu_stencil_look::room,
                                      gpu_stencil_look::begin<double>,
                                      gpu_stencil_look::begin<float>,
                                      nullptr,
                                      gpu_stencil_look::numbers};

} // namespace stencil_format
} // namespace furrow
