// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_products.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/gpu_room.hpp"

#include <furrow/storage.hpp>

#include <algorithm>
#include <bit>

/// Sparse rows on a GPU that are sums of addends: what `row_accumulator` does on the host.
///
/// A group of L lanes makes a row with a hash table in shared memory (in memory for the longest rows). Two passes:
/// lengths, then entries. Tables as Y. Nagasaka, A. Nukada, S. Matsuoka, High-performance and memory-saving sparse
/// general matrix-matrix multiplication for NVIDIA Pascal GPU, 2017.
namespace furrow::gpu {
namespace row_sums {

constexpr int threads = 128, least_log = 3, most_log = 30;
/// Larger tables lie in memory, and their rows are sorted afterwards.
constexpr int most_shared_log = 10;
/// Of shared memory that a block is given for its tables, so that a multiprocessor holds several.
constexpr index_t bytes_of_a_block = 26 << 10;
constexpr index_t bytes_of_a_place = sizeof(double) + sizeof(std::int32_t);
/// From one table in shared memory to the next. Those of a warp would begin in the same bank, and their groups, which
/// are at the same place of each, would wait for one another: level 0 of `poisson3d:200` took 20.6 ms for 18.7 (H200).
FURROW_HD constexpr index_t apart(index_t places, int lanes) { return lanes < warp ? places + lanes : places; }
constexpr std::int32_t empty = -1;

/// A hash table of 2^log places with linear probing.
struct table {
  double* sum;
  std::int32_t* key;
  int log;

  __device__ int places() const { return 1 << log; }
  /// Where a column is, or is to be; `fresh` where it comes for the first time. -1 where the table is full.
  template <bool Alone> __device__ int find(std::int32_t col, bool& fresh) const {
    unsigned at = static_cast<unsigned>(col) * 0x9e3779b1u >> (32 - log);
    fresh = false;
    for (int probe = 0; probe < places(); ++probe, at = (at + 1) & (places() - 1)) {
      std::int32_t there = key[at];
      if (there == empty) {
        if constexpr (Alone) key[at] = col;
        else there = atomicCAS(key + at, empty, col);
        fresh = there == empty;
        if (fresh) return static_cast<int>(at);
      }
      if (there == col) return static_cast<int>(at);
    }
    return -1;
  }
  /// Where a column is, of those that were found fresh; -1 for another.
  __device__ int place_of(std::int32_t col) const {
    unsigned at = static_cast<unsigned>(col) * 0x9e3779b1u >> (32 - log);
    for (int probe = 0; probe < places(); ++probe, at = (at + 1) & (places() - 1)) {
      if (key[at] == col) return static_cast<int>(at);
      if (key[at] == empty) break;
    }
    return -1;
  }
  /// The entries by column; every one counts those before it.
  template <int L> __device__ void sort(const lane_group<L>& lanes, std::int32_t* col, double* val) const {
    constexpr int together = 4;
    for (int first = lanes.rank; first < places(); first += together * L) {
      std::int32_t own[together];
      int before[together] = {};
#pragma unroll
      for (int c = 0; c < together; ++c) own[c] = first + c * L < places() ? key[first + c * L] : empty;
      for (int q = 0; q < places(); ++q) {
        const auto other = static_cast<unsigned>(key[q]); // an empty place is larger than any column
#pragma unroll
        for (int c = 0; c < together; ++c) before[c] += other < static_cast<unsigned>(own[c]);
      }
#pragma unroll
      for (int c = 0; c < together; ++c)
        if (own[c] != empty) {
          col[before[c]] = own[c];
          val[before[c]] = sum[first + c * L];
        }
    }
  }
  /// The entries as they lie.
  template <int L> __device__ void list(const lane_group<L>& lanes, std::int32_t* col, double* val) const {
    index_t before = 0;
    for (int first = 0; first < places(); first += L) { // all lanes vote, also where there are fewer places
      const int p = first + lanes.rank;
      const bool there = p < places() && key[p] != empty;
      const unsigned all = lanes.vote(there);
      const index_t place = before + lanes.votes_before(all);
      if (there) {
        col[place] = key[p];
        val[place] = sum[p];
      }
      before += __popc(all);
    }
  }
};

/// The rows of C that one launch makes, and its tables: in shared memory, or `far` in memory, one a group.
struct work {
  const std::int32_t* row;
  index_t count;
  int log;
  double* far_sums = nullptr;
  std::int32_t* far_keys = nullptr;
};

/// f(i, table) for the rows of a launch; the table is empty.
template <int L, bool Sums, class F> __device__ void for_each_row(const work& w, F f) {
  extern __shared__ double room[];
  const lane_group<L> lanes;
  const index_t places = index_t(1) << w.log, mine = threadIdx.x / L, groups = blockDim.x / L;
  const index_t own = blockIdx.x * groups + mine, step = apart(places, L);
  table t{room + mine * step, reinterpret_cast<std::int32_t*>(room + (Sums ? groups * step : 0)) + mine * step, w.log};
  if (w.far_keys) t = {w.far_sums + own * places, w.far_keys + own * places, w.log};
  take_turn();
  for (index_t at = own; at < w.count; at += gridDim.x * groups) {
    for (index_t p = lanes.rank; p < places; p += L) {
      t.key[p] = empty;
      if constexpr (Sums) t.sum[p] = 0;
    }
    lanes.sync();
    f(index_t(w.row[at]), t, lanes);
    lanes.sync();
  }
}

/// A row that has more entries than its table has places is as long as `unknown`.
constexpr index_t unknown = -1;
template <int L, class Source>
__global__ void __launch_bounds__(threads) count_kernel(work w, Source source, index_t* length) {
  for_each_row<L, false>(w, [&](index_t i, const table& t, const lane_group<L>& lanes) {
    index_t count = 0, lost = 0;
    source.template each<false>(lanes, i, [&](std::int32_t col, double, double) {
      bool fresh;
      lost += t.find<L == 1>(col, fresh) < 0;
      count += fresh;
    });
    count = lanes.sum(count);
    lost = lanes.sum(lost);
    if (lanes.rank == 0) length[i] = lost ? unknown : count;
  });
}

template <int L, bool Sorted, class Source>
__global__ void __launch_bounds__(threads)
    add_kernel(work w, Source source, const index_t* row_ptr, std::int32_t* col, double* val) {
  for_each_row<L, true>(w, [&](index_t i, const table& t, const lane_group<L>& lanes) {
    source.template each<true>(lanes, i, [&](std::int32_t c, double factor, double value) {
      bool fresh;
      const int at = t.find<L == 1>(c, fresh);
      t.sum[at] = __dadd_rn(t.sum[at], __dmul_rn(factor, value));
    });
    if (!Sorted || w.far_keys) t.list(lanes, col + row_ptr[i], val + row_ptr[i]);
    else t.sort(lanes, col + row_ptr[i], val + row_ptr[i]);
  });
}

/// The sums of rows whose columns are known; addends of other columns are left out.
template <int L, class Source>
__global__ void __launch_bounds__(threads)
    add_again_kernel(work w, Source source, const index_t* row_ptr, const std::int32_t* col, double* val) {
  for_each_row<L, true>(w, [&](index_t i, const table& t, const lane_group<L>& lanes) {
    const index_t begin = row_ptr[i], end = row_ptr[i + 1];
    bool fresh;
    for (index_t k = begin + lanes.rank; k < end; k += L) t.find<L == 1>(col[k], fresh);
    lanes.sync();
    source.template each<true>(lanes, i, [&](std::int32_t c, double factor, double value) {
      const int at = t.place_of(c);
      if (at >= 0) t.sum[at] = __dadd_rn(t.sum[at], __dmul_rn(factor, value));
    });
    lanes.sync();
    for (index_t k = begin + lanes.rank; k < end; k += L) val[k] = t.sum[t.place_of(col[k])];
  });
}

/// The log of the places that `entries` entries at most are given: half as much room again, or as it is.
FURROW_HD inline std::uint8_t log_for(index_t entries, bool spare) {
  const index_t wanted = spare ? entries + entries / 2 : entries;
  int log = least_log;
  while ((index_t(1) << log) < wanted && log < most_log) ++log;
  return static_cast<std::uint8_t>(log);
}

/// Of a row before it is known: as many entries as there are addends; first a guess, for columns repeat.
template <class Source> struct log_by_addends {
  Source source;
  const index_t* length; ///< where the guess was too small; null: nowhere yet
  std::uint8_t* log;
  FURROW_HD void operator()(index_t i) const {
    if (length && length[i] != unknown) {
      log[i] = 0;
      return;
    }
    const index_t most = source.most_entries(i);
    log[i] = log_for(!length && most > Source::usual_length ? Source::usual_length : most, false);
  }
};
struct log_by_length {
  const index_t* length;
  std::uint8_t* log;
  FURROW_HD void operator()(index_t i) const { log[i] = log_for(length[i], true); }
};

struct find_first_of_log {
  cview<std::uint8_t> log;
  index_t* first; ///< for each log from 0 on: where rows of at least that begin
  FURROW_HD void operator()(index_t k) const {
    const int before = k == 0 ? -1 : log[k - 1], own = k == log.size ? most_log + 1 : log[k];
    for (int l = before + 1; l <= own; ++l) first[l] = k;
  }
};

/// Rows by the size of their tables.
struct bins : rows_by_table {
  int largest = 0; ///< log

  template <class LogOfRow>
  bins(index_t rows, LogOfRow make) : rows_by_table{gpu_array<std::int32_t>(rows), host_array<index_t>(most_log + 2)} {
    gpu_array<std::uint8_t> log(rows);
    make.log = log.data();
    for_each(rows, make);
    for_each(rows, count_up<std::int32_t>{row.data()});
    sort_pairs(log, row, std::bit_width(unsigned(most_log)));
    gpu_array<index_t> begin(most_log + 2);
    for_each(rows + 1, find_first_of_log{as_cview(log), begin.data()});
    first = host_array<index_t>(begin);
    for (int l = 0; l <= most_log; ++l)
      if (first[l + 1] > first[l]) largest = l;
  }
};

/// Far tables of a launch may take that much.
constexpr index_t far_bytes = index_t(1) << 30;

/// Tables of so many places, in shared memory: blocks of whole warps, where there are some, so that several fit.
template <int L, class Kernel, class... A>
void run_near(const work& w, index_t bytes_of_table, Kernel kernel, const A&... arguments) {
  const index_t fit = std::clamp<index_t>(bytes_of_a_block / bytes_of_table, 1, threads / L);
  const index_t groups = fit < warp / L ? fit : fit / (warp / L) * (warp / L);
  launch(kernel, static_cast<unsigned>((w.count + groups - 1) / groups), static_cast<int>(groups * L),
         static_cast<int>(groups * bytes_of_table), current_queue(), w, arguments...);
}

inline work work_of(const rows_by_table& by_size, int log) {
  const index_t begin = by_size.first[log];
  return {by_size.row.data() + begin, by_size.first[log + 1] - begin, log};
}

/// kernel(work, arguments...) for each bin from `least` on.
template <int L, bool Sums, class Kernel, class... A>
void run_from(int least, const rows_by_table& by_size, Kernel kernel, const A&... arguments) {
  const queue& q = current_queue();
  for (int log = least; log <= most_log; ++log) {
    work w = work_of(by_size, log);
    if (w.count == 0) continue;
    const index_t bytes_each = Sums ? bytes_of_a_place : sizeof(std::int32_t), bytes = bytes_each << log;
    if (log <= most_shared_log + (Sums ? 0 : 1)) {
      run_near<L>(w, apart(index_t(1) << log, L) * bytes_each, kernel, arguments...);
      continue;
    }
    const index_t groups = std::clamp<index_t>(far_bytes / bytes, 1, std::min<index_t>(w.count, 4 * q.multiprocessors));
    gpu_array<std::int32_t> keys(groups << log);
    gpu_array<double> sums(Sums ? groups << log : 0);
    w.far_keys = keys.data();
    w.far_sums = sums.data();
    launch(kernel, static_cast<unsigned>(groups), L, 0, q, w, arguments...);
  }
}
template <int L, bool Sums, class Kernel, class... A>
void run(const rows_by_table& by_size, Kernel kernel, const A&... arguments) {
  run_from<L, Sums>(least_log, by_size, kernel, arguments...);
}

struct bounds_of_rows {
  const std::int32_t* row;
  const index_t* row_ptr;
  index_t *begin, *end;
  FURROW_HD void operator()(index_t k) const {
    begin[k] = row_ptr[row[k]];
    end[k] = row_ptr[row[k] + 1];
  }
};

/// A block copies a piece of both lists.
static __global__ void copy_pieces(const index_t* begin, const index_t* end, const std::int32_t* col, const double* val,
                                   std::int32_t* to_col, double* to_val) {
  take_turn();
  for (index_t k = begin[blockIdx.x] + threadIdx.x; k < end[blockIdx.x]; k += blockDim.x) {
    to_col[k] = col[k];
    to_val[k] = val[k];
  }
}

/// Sorts the rows that far tables have left as they lay.
inline void sort_far_rows(const bins& by_length, device_rows<double>& c) {
  const index_t first = by_length.first[most_shared_log + 1], count = by_length.row.size() - first;
  if (count == 0) return;
  gpu_array<index_t> begin(count), end(count);
  for_each(count, bounds_of_rows{by_length.row.data() + first, c.row_ptr.data(), begin.data(), end.data()});
  gpu_array<std::int32_t> col(c.col.size());
  gpu_array<double> val(c.val.size());
  sort_pieces(c.col, c.val, begin, end, col, val);
  launch(copy_pieces, static_cast<unsigned>(count), 256, 0, current_queue(), begin.data(), end.data(), col.data(),
         val.data(), c.col.data(), c.val.data());
}

} // namespace row_sums

/// The matrix whose rows a source adds up; `order` as in `multiply`. The source says of a row
///   most_entries(i)           how many entries it has at most,
///   usual_length              how many most rows do not pass,
///   each<Values>(lanes, i, f) f(column, factor, value) for its addends factor * value, by the lanes of a group;
///   between
///                             addends of the same column by different lanes it calls lanes.sync().
/// Sums in double, each in the order of the addends, products rounded before they are added: the same bits on every
/// run. kept: gets what `add_again` needs. more: rows that come behind these, for which the arrays have room, each
/// twice as long as the mean.
template <int L, bool Sorted, class Source>
device_rows<double> add_up(shape2 shape, Source source, rows_by_table* kept = nullptr, index_t more = 0) {
  using namespace row_sums;
  device_rows<double> c{shape, with_spare<index_t>(shape.rows + 1, more), {}, {}};
  index_t* const length = c.row_ptr.data();
  const bins guessed(shape.rows, log_by_addends<Source>{source, nullptr, nullptr});
  run<L, false>(guessed, count_kernel<L, Source>, source, length);
  if (guessed.largest >= log_for(Source::usual_length, false))
    run<L, false>(bins(shape.rows, log_by_addends<Source>{source, length, nullptr}), count_kernel<L, Source>, source,
                  length);
  bins by_length(shape.rows, log_by_length{length, nullptr}); // before the lengths become offsets
  const index_t nnz = to_offsets(c.row_ptr);
  const index_t spare = more * 2 * (nnz / std::max<index_t>(shape.rows, 1) + 1);
  c.col = with_spare<std::int32_t>(nnz, spare);
  c.val = with_spare<double>(nnz, spare);
  run<L, true>(by_length, add_kernel<L, Sorted, Source>, source, static_cast<const index_t*>(length), c.col.data(),
               c.val.data());
  if (Sorted) sort_far_rows(by_length, c);
  if (kept) *kept = std::move(by_length);
  return c;
}

/// The numbers of that matrix for other addends in the same columns, to val; of the source `each<true>` alone is asked.
/// Where the columns stay as they are the bits are those of `add_up`.
template <int L, class Source>
void add_again(const rows_by_table& kept, Source source, const index_t* row_ptr, const std::int32_t* col, double* val) {
  row_sums::run<L, true>(kept, row_sums::add_again_kernel<L, Source>, source, row_ptr, col, val);
}

} // namespace furrow::gpu
