// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_convert.hpp"
#include "gpu_hash.hpp"

#include "backends/gpu/staged_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace furrow {
namespace gpu_stencils {

/// On a multiprocessor: with as many registers as the compiler likes it is four, and numbers take 287 us for 257.
constexpr int blocks_together = 5;
/// Rows of more entries are walked by a warp, others by a thread.
constexpr index_t longest_of_a_thread = 128;
/// Stencils that a block counts by itself before it turns to the table of all.
constexpr int own_places = 256, own_tries = 16;

/// Different hashes, how many rows have each and the first of these.
struct counted_hashes {
  word* hash;
  unsigned *uses, *first; ///< uses less one; all bits are set before
  index_t mask;
  unsigned* found; ///< how many there are, and whether they were too many

  __device__ bool take(word* at, word h) const {
    const word there = *static_cast<volatile word*>(at);
    if (there == h) return true;
    if (there != nothing) return false;
    const word before = atomicCAS(at, nothing, h);
    if (before == nothing) atomicAdd(found, 1u);
    return before == nothing || before == h;
  }
  __device__ void add(word h, unsigned rows, unsigned row) const {
    constexpr int tries = 4096;
    if (static_cast<volatile unsigned*>(found)[1]) return; // too many: nothing of it will be read
    if (4 * index_t(*static_cast<volatile unsigned*>(found)) > 3 * mask) {
      found[1] = 1;
      return;
    }
    index_t at = static_cast<index_t>(h) & mask;
    for (int n = 0; n < tries; ++n, at = (at + 1) & mask)
      if (take(hash + at, h)) {
        atomicAdd(uses + at, rows);
        atomicMin(first + at, row);
        return;
      }
    found[1] = 1;
  }
};

/// Stencils that a block has seen.
struct own_hashes {
  word hash[own_places];
  unsigned uses[own_places], first[own_places];

  __device__ void clear() {
    for (int k = static_cast<int>(threadIdx.x); k < own_places; k += gpu::each_threads)
      hash[k] = nothing, uses[k] = 0, first[k] = ~0u;
  }
  __device__ void add(word h, unsigned rows, unsigned row, const counted_hashes& all) {
    int at = static_cast<int>(h % own_places), tries = 0;
    for (; tries < own_tries; ++tries, at = (at + 1) % own_places) {
      const word before = atomicCAS(hash + at, nothing, h);
      if (before == nothing || before == h) break;
    }
    if (tries == own_tries) {
      all.add(h, rows, row);
      return;
    }
    atomicAdd(uses + at, rows);
    atomicMin(first + at, row);
  }
  /// The rows of a warp: neighbouring rows are often alike, and are counted at once.
  __device__ void add_of_warp(word h, bool is, index_t row, const counted_hashes& all) {
    const int rank = static_cast<int>(threadIdx.x) % gpu::warp;
    for (unsigned left = __ballot_sync(~0u, is); left;) {
      const int first = __ffs(static_cast<int>(left)) - 1;
      const word one = __shfl_sync(~0u, h, first); // by all lanes, those without a row, too
      const unsigned same = __ballot_sync(~0u, h == one) & left;
      if (rank == first) add(h, static_cast<unsigned>(__popc(same)), static_cast<unsigned>(row), all);
      left &= ~same;
    }
  }
  __device__ void end(const counted_hashes& all) const {
    for (int k = static_cast<int>(threadIdx.x); k < own_places; k += gpu::each_threads)
      if (hash[k] != nothing) all.add(hash[k], uses[k], first[k]);
  }
};

/// A block takes `rows_each` neighbouring rows.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads, blocks_together)
    count_kernel(csr<V, index_t, cview> a, index_t rows_each, std::uint64_t* hashes, counted_hashes all) {
  __shared__ typename gpu::staged_rows<V>::memory entries;
  __shared__ own_hashes own;
  own.clear();
  gpu::take_turn();
  __syncthreads();
  const gpu::staged_rows<V> staged(entries, a.col.data, a.val.data);
  const gpu::lane_group<gpu::warp> lane;
  const index_t begin = index_t(blockIdx.x) * rows_each;
  const index_t last = begin + rows_each < a.shape.rows ? begin + rows_each : a.shape.rows;
  for (index_t base = begin; base < last; base += gpu::each_threads) {
    const index_t row = base + threadIdx.x;
    const bool is = row < last;
    const index_t from = is ? a.row_ptr[row] : 0, end = is ? a.row_ptr[row + 1] : 0;
    const bool is_long = end - from > longest_of_a_thread;
    word sum = 0;
    staged.each(is_long ? end : from, end, [&](const std::int32_t* col, const V* val, int n) {
      for (int k = 0; k < n; ++k) sum += hash_of_entry(k, col[k] - static_cast<int>(row), val[k]);
    });
    word h = hash_of_sum(sum, end - from);
    for (unsigned left = lane.vote(is_long); left; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const word found = hash_of_row(lane, a, row - lane.rank + owner);
      if (lane.rank == owner) h = found;
    }
    if (is) hashes[row] = h;
    own.add_of_warp(h, is, row, all);
  }
  __syncthreads();
  own.end(all);
}

/// Those that were found, in no order: keys that put the most frequent first, of these the one of the earlier row.
struct list_hashes {
  counted_hashes all;
  unsigned* listed;
  std::uint64_t* key;
  std::int32_t* place;
  FURROW_HD void operator()([[maybe_unused]] index_t at) const {
#if defined(__CUDA_ARCH__)
    if (all.hash[at] == nothing) return;
    const unsigned to = atomicAdd(listed, 1u);
    key[to] = static_cast<std::uint64_t>(0xfffffffeu - all.uses[at]) << 32 | all.first[at];
    place[to] = static_cast<std::int32_t>(at);
#endif
  }
};

/// The same for tables that hold few stencils: hash, uses above the first row, and entries of those that several rows
/// have and of those that one has, as far as there is room.
struct list_few {
  static constexpr unsigned room_frequent = 8192, near_frequent = 384, room_single = 256;
  /// Counts, then the single ones and the frequent ones, of which `near` words come home at once.
  static constexpr index_t singles = 2, frequents = singles + 3 * room_single;
  static constexpr index_t near = frequents + 3 * near_frequent, words = frequents + 3 * room_frequent;

  counted_hashes all;
  const index_t* row_ptr;
  unsigned* listed; ///< those of several rows, and of one
  word *frequent, *single;
  FURROW_HD void operator()([[maybe_unused]] index_t at) const {
#if defined(__CUDA_ARCH__)
    if (all.hash[at] == nothing) return;
    const unsigned uses = all.uses[at] + 1;
    const bool is_single = uses == 1;
    const unsigned to = atomicAdd(listed + is_single, 1u);
    if (to >= (is_single ? room_single : room_frequent)) return;
    word* const place = (is_single ? single : frequent) + 3 * to;
    const unsigned row = all.first[at];
    place[0] = all.hash[at];
    place[1] = static_cast<word>(uses) << 32 | row;
    place[2] = static_cast<word>(row_ptr[row + 1] - row_ptr[row]);
#endif
  }
};

struct hash_and_length {
  counted_hashes all;
  const std::int32_t* place;
  const index_t* row_ptr;
  std::uint64_t* hash;
  std::int32_t* length;
  FURROW_HD void operator()(index_t k) const {
    const index_t at = place[k], row = all.first[at];
    hash[k] = all.hash[at];
    length[k] = static_cast<std::int32_t>(row_ptr[row + 1] - row_ptr[row]);
  }
};

/// Stencil s is that of the row first[s]. The table is written where it stays, and where it is sent from.
template <class V> struct write_table {
  csr<V, index_t, cview> a;
  const std::int32_t *first, *start;
  std::int32_t *offset, *offset_sent;
  V *val, *val_sent;
  FURROW_HD void operator()(index_t s) const {
    const index_t row = first[s], from = a.row_ptr[row];
    for (std::int32_t k = start[s]; k < start[s + 1]; ++k) {
      offset[k] = offset_sent[k] = static_cast<std::int32_t>(a.col[from + k - start[s]] - row);
      val[k] = val_sent[k] = a.val[from + k - start[s]];
    }
  }
};

/// What comes home at once: two counts, the values of a table and its offsets.
template <class V> struct sent_table {
  index_t entries;
  index_t bytes() const { return 2 * index_t(sizeof(word)) + entries * index_t(sizeof(V) + sizeof(std::int32_t)); }
  static word* counts(unsigned char* at) { return reinterpret_cast<word*>(at); }
  static V* val(unsigned char* at) { return reinterpret_cast<V*>(at + 2 * sizeof(word)); }
  std::int32_t* offset(unsigned char* at) const { return reinterpret_cast<std::int32_t*>(val(at) + entries); }
};

/// Numbers of stencils by their hashes: an open table that is at most half full.
struct numbers_by_hash {
  const std::uint64_t* hash;
  const std::int32_t* number; ///< -1: no stencil there
  index_t mask;
  __device__ std::int32_t find(std::uint64_t h) const {
    for (auto at = static_cast<index_t>(h) & mask;; at = (at + 1) & mask)
      if (number[at] < 0 || hash[at] == h) return number[at];
  }
};

/// Each row's number, which rows have none, and how many these are and how many entries they have.
template <class V, class N>
__global__ void __launch_bounds__(gpu::each_threads, blocks_together)
    number_kernel(csr<V, index_t, cview> a, const std::uint64_t* hashes, numbers_by_hash numbers,
                  stencil_table<V> table, int stencils, N* number, std::uint8_t* beside, word* left) {
  __shared__ typename gpu::staged_rows<V>::memory entries;
  __shared__ word rows_left, entries_left;
  if (threadIdx.x == 0) rows_left = entries_left = 0;
  gpu::take_turn();
  __syncthreads();
  const gpu::staged_rows<V> staged(entries, a.col.data, a.val.data);
  const gpu::lane_group<gpu::warp> lane;
  const index_t row = index_t(blockIdx.x) * gpu::each_threads + threadIdx.x;
  const bool is = row < a.shape.rows;
  const index_t from = is ? a.row_ptr[row] : 0, end = is ? a.row_ptr[row + 1] : 0;
  const std::int32_t n = is ? numbers.find(hashes[row]) : -1;
  const std::int32_t begin = n >= 0 ? table.start[n] : 0;
  bool same = n >= 0 && table.start[n + 1] - begin == end - from;
  const auto fits = [&](std::int32_t col, V val, index_t r, std::int32_t at) {
    return col - r == table.offset[at] && bits_of(val) == bits_of(table.val[at]);
  };
  const bool is_long = same && end - from > longest_of_a_thread;
  staged.each(same && !is_long ? from : end, end, [&](const std::int32_t* col, const V* val, int entries_here) {
    for (int k = 0; k < entries_here; ++k) same = same && fits(col[k], val[k], row, begin + k);
  });
  for (unsigned votes = lane.vote(is_long); votes; votes &= votes - 1) {
    const int owner = __ffs(static_cast<int>(votes)) - 1;
    const std::int32_t places = lane.from(owner, begin);
    const index_t first = lane.from(owner, from), count = lane.from(owner, end) - first;
    bool all = true;
    for (index_t k = lane.rank; k < count; k += gpu::warp)
      all = all &&
            fits(a.col[first + k], a.val[first + k], row - lane.rank + owner, places + static_cast<std::int32_t>(k));
    const bool differ = lane.vote(!all) != 0;
    if (lane.rank == owner) same = !differ;
  }
  if (is) {
    number[row] = static_cast<N>(same ? n : stencils);
    beside[row] = !same;
  }
  const unsigned votes = lane.vote(is && !same);
  const index_t sum = votes ? lane.sum(is && !same ? end - from : 0) : 0;
  if (votes && lane.rank == 0) {
    atomicAdd(&rows_left, static_cast<word>(__popc(votes)));
    atomicAdd(&entries_left, static_cast<word>(sum));
  }
  __syncthreads();
  if (threadIdx.x != 0 || rows_left == 0) return;
  atomicAdd(left, rows_left);
  atomicAdd(left + 1, entries_left);
}
struct length_beside {
  const std::int32_t* row;
  const index_t* row_ptr;
  index_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = row_ptr[row[k] + 1] - row_ptr[row[k]]; }
};
template <class V> struct copy_beside {
  csr<V, index_t, cview> a;
  const std::int32_t* row;
  const index_t* begin;
  std::int32_t* col;
  V* val;
  FURROW_HD void operator()(index_t i, index_t k) const {
    const index_t from = a.row_ptr[row[i]] + k - begin[i];
    col[k] = a.col[from];
    val[k] = a.val[from];
  }
};

} // namespace gpu_stencils

namespace gpu_stencils {

/// The most frequent of all: a sort.
template <class V>
std::vector<seen_stencil> most_frequent(const rows_on_gpu<V>& a, const counted_hashes& all, index_t different) {
  gpu_array<unsigned> listed(1, 0u);
  gpu_array<std::uint64_t> key(different);
  gpu_array<std::int32_t> place(different);
  gpu::for_each(all.mask + 1, list_hashes{all, listed.data(), key.data(), place.data()});
  if (different > 0) gpu::sort_pairs(key, place, 64);
  const index_t most = std::min(different, most_stencil_places + 1); // each takes a place at least
  gpu_array<std::uint64_t> top_hash(most);
  gpu_array<std::int32_t> top_length(most);
  gpu::for_each(most, hash_and_length{all, place.data(), a.row_ptr.data(), top_hash.data(), top_length.data()});
  host_array<std::uint64_t> keys(most);
  copy_bytes(host_memory{}, keys.data(), gpu_memory{}, key.data(), keys.byte_count());
  const host_array<std::uint64_t> hashes(top_hash);
  const host_array<std::int32_t> lengths(top_length);
  std::vector<seen_stencil> seen(static_cast<std::size_t>(most));
  for (index_t k = 0; k < most; ++k)
    seen[static_cast<std::size_t>(k)] = {{static_cast<index_t>(keys[k] & 0xffffffffu), 0, lengths[k]},
                                         hashes[k],
                                         index_t(0xffffffffu - (keys[k] >> 32))};
  return seen;
}

/// Adds those that `list_few` has listed.
void add_listed(std::vector<seen_stencil>& to, const word* from, unsigned count) {
  for (unsigned k = 0; k < count; ++k, from += 3)
    to.push_back({{static_cast<index_t>(from[1] & 0xffffffffu), 0, static_cast<index_t>(from[2])},
                  from[0],
                  static_cast<index_t>(from[1] >> 32)});
}

/// With a table of at most so many places; nothing where it is too small.
template <class V> std::optional<gpu_stencil_plan> plan_stencils(const rows_on_gpu<V>& a, index_t most_places) {
  const index_t rows = a.shape.rows;
  const auto places =
      static_cast<index_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(2 * rows + 2, most_places))));
  gpu_array<word> table(2 * places), list(list_few::words);
  gpu::fill_bytes(table, 0xff);
  gpu::fill_bytes(list.data(), 0, list_few::singles * sizeof(word), gpu::current_queue());
  auto* const counts = reinterpret_cast<unsigned*>(list.data());
  auto* const uses = reinterpret_cast<unsigned*>(table.data() + places);
  const counted_hashes all{table.data(), uses, uses + places, places - 1, counts};
  gpu_stencil_plan plan{gpu_array<std::uint64_t>(rows), {}};
  const gpu::queue& q = gpu::current_queue();
  const index_t shares = rows / (8 * index_t(q.multiprocessors)) + 1;
  const index_t rows_each = (shares + gpu::each_threads - 1) / gpu::each_threads * gpu::each_threads;
  if (rows > 0)
    gpu::launch(count_kernel<V>, static_cast<unsigned>((rows + rows_each - 1) / rows_each), gpu::each_threads, 0, q,
                a.view(), rows_each, plan.hash.data(), all);
  gpu::for_each(places, list_few{all, a.row_ptr.data(), counts + 2, list.data() + list_few::frequents,
                                 list.data() + list_few::singles});
  host_array<word> home(list_few::near);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, list.data(), home.byte_count());
  unsigned found[4]; // different ones, whether too many, those of several rows, those of one
  static_assert(sizeof found == list_few::singles * sizeof(word));
  std::memcpy(found, home.data(), sizeof found);
  if (found[1]) return std::nullopt;
  std::vector<seen_stencil> seen;
  bool all_listed = found[2] <= list_few::room_frequent;
  if (all_listed && found[2] > list_few::near_frequent) {
    host_array<word> others(3 * index_t(found[2]));
    copy_bytes(host_memory{}, others.data(), gpu_memory{}, list.data() + list_few::frequents, others.byte_count());
    add_listed(seen, others.data(), found[2]);
  } else if (all_listed) {
    add_listed(seen, home.data() + list_few::frequents, found[2]);
  }
  index_t filled = 0;
  for (const seen_stencil& s : seen) filled += s.first.count + 1;
  // Stencils of one row are of no account where those of several rows fill a small table.
  if (all_listed && filled <= small_stencil_table) {
    all_listed = found[3] <= list_few::room_single;
    if (all_listed) add_listed(seen, home.data() + list_few::singles, found[3]);
  }
  if (!all_listed) seen = most_frequent(a, all, static_cast<index_t>(found[0]));
  for (const std::size_t k : choose_stencils(seen, rows)) plan.table.push_back(seen[k]);
  return plan;
}

} // namespace gpu_stencils

template <class V> std::optional<gpu_stencil_plan> plan_stencils(const rows_on_gpu<V>& a) {
  using namespace gpu_stencils;
  // What is stored by stencils has few of them: where a small table is too small, a large one is taken.
  constexpr index_t few_places = index_t(1) << 16, most_places = index_t(1) << 22;
  if (auto plan = plan_stencils(a, few_places); plan || a.shape.rows <= few_places / 2) return plan;
  return plan_stencils(a, most_places);
}

template <class N, class V>
stencil<V, N, gpu_array> to_stencil(const rows_on_gpu<V>& a, const gpu_stencil_plan& plan,
                                    host_stencil_table<V>* table) {
  using namespace gpu_stencils;
  const index_t rows = a.shape.rows;
  const std::size_t stencils = plan.table.size(), places = std::bit_ceil(2 * stencils + 2);
  // One copy brings the hashes, their numbers, the rows of the table and its offsets.
  std::vector<std::uint64_t> packed(places + (places + 2 * stencils + 2) / 2, 0);
  auto* const halves = reinterpret_cast<std::int32_t*>(packed.data() + places);
  std::int32_t *const number_at = halves, *const first = halves + places, *const start = first + stencils;
  std::fill_n(number_at, places, -1);
  for (std::size_t s = 0; s < stencils; ++s) {
    first[s] = static_cast<std::int32_t>(plan.table[s].first.row);
    start[s + 1] = start[s] + static_cast<std::int32_t>(plan.table[s].first.count);
    std::size_t at = plan.table[s].hash & (places - 1);
    while (number_at[at] >= 0) at = (at + 1) & (places - 1);
    number_at[at] = static_cast<std::int32_t>(s);
    packed[at] = plan.table[s].hash;
  }
  const index_t entries_of_table = start[stencils];
  const auto there = gpu::on_device(packed);
  const auto* const halves_there = reinterpret_cast<const std::int32_t*>(there.data() + places);
  stencil<V, N, gpu_array> made;
  made.shape = a.shape;
  made.number = gpu_array<N>(rows);
  made.start = gpu_array<std::int32_t>(index_t(stencils) + 1);
  gpu_memory::copy(made.start.data(), halves_there + places + stencils, made.start.byte_count());
  made.offset = gpu_array<std::int32_t>(entries_of_table);
  made.val = gpu_array<V>(entries_of_table);
  const sent_table<V> sent{entries_of_table};
  gpu_array<unsigned char> home(sent.bytes());
  gpu::fill_bytes(home.data(), 0, 2 * sizeof(word), gpu::current_queue());
  gpu::for_each(index_t(stencils),
                write_table<V>{a.view(), halves_there + places, made.start.data(), made.offset.data(),
                               sent.offset(home.data()), made.val.data(), sent.val(home.data())});
  gpu_array<std::uint8_t> beside(rows);
  if (rows > 0)
    gpu::launch(number_kernel<V, N>, static_cast<unsigned>((rows + gpu::each_threads - 1) / gpu::each_threads),
                gpu::each_threads, 0, gpu::current_queue(), a.view(), plan.hash.data(),
                numbers_by_hash{there.data(), halves_there, index_t(places) - 1},
                stencil_table<V>{made.start.data(), made.offset.data(), made.val.data()}, static_cast<int>(stencils),
                made.number.data(), beside.data(), sent.counts(home.data()));
  host_array<unsigned char> here(home); // waits for all that there is without rows beside
  const auto count = static_cast<index_t>(sent.counts(here.data())[0]);
  const auto entries = static_cast<index_t>(sent.counts(here.data())[1]);
  if (table) {
    table->start = host_array<std::int32_t>(made.start.size());
    table->offset = host_array<std::int32_t>(entries_of_table);
    table->val = host_array<V>(entries_of_table);
    std::copy_n(start, stencils + 1, table->start.begin());
    std::copy_n(sent.offset(here.data()), entries_of_table, table->offset.begin());
    std::copy_n(sent.val(here.data()), entries_of_table, table->val.begin());
  }
  made.rest_row = gpu_array<std::int32_t>(count);
  made.rest.shape = {count, a.shape.cols};
  made.rest.row_ptr = gpu_array<index_t>(count + 1, index_t(0));
  made.rest.col = gpu_array<std::int32_t>(entries);
  made.rest.val = gpu_array<V>(entries);
  if (count > 0) {
    gpu_array<std::int32_t> found(rows);
    gpu::marked_places(beside, found);
    gpu_memory::copy(made.rest_row.data(), found.data(), made.rest_row.byte_count());
    gpu::for_each(count, length_beside{made.rest_row.data(), a.row_ptr.data(), made.rest.row_ptr.data()});
    gpu::enqueue_offsets(made.rest.row_ptr);
    gpu::for_each_entry(count, made.rest.row_ptr.data(), entries,
                        copy_beside<V>{a.view(), made.rest_row.data(), made.rest.row_ptr.data(), made.rest.col.data(),
                                       made.rest.val.data()});
    gpu::wait(gpu::current_queue());
  }
  return made;
}

#define FURROW_STENCILS(V)                                                                                             \
  template std::optional<gpu_stencil_plan> plan_stencils(const rows_on_gpu<V>&);                                       \
  template stencil<V, std::uint8_t, gpu_array> to_stencil(const rows_on_gpu<V>&, const gpu_stencil_plan&,              \
                                                          host_stencil_table<V>*);                                     \
  template stencil<V, std::uint16_t, gpu_array> to_stencil(const rows_on_gpu<V>&, const gpu_stencil_plan&,             \
                                                           host_stencil_table<V>*);
FURROW_STENCILS(double)
FURROW_STENCILS(float)
#undef FURROW_STENCILS

} // namespace furrow
