// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_row_sums.hpp"

/// Sums of addends whose places are known: a byte an addend says which entry of its row it goes to, so that new numbers
/// need no hash table.
namespace furrow::gpu {
namespace row_sums {

/// Rows of tables up to there have at most 171 entries, whose numbers fit into a byte.
constexpr int most_named_log = 8;
constexpr std::uint8_t no_entry = 255;
FURROW_HD constexpr index_t most_entries_of(int log) { return (index_t(2) << log) / 3 + 1; }

/// How many addends a row has, where they are named.
template <class Source> struct count_addends {
  Source source;
  const index_t* row_ptr;
  index_t* count;
  FURROW_HD void operator()(index_t i) const {
    count[i] = row_ptr[i + 1] - row_ptr[i] <= most_entries_of(most_named_log) ? source.addends(i) : 0;
  }
};

/// Which entry of its row an addend goes to.
template <int L, class Source>
__global__ void __launch_bounds__(threads)
    name_kernel(work w, Source source, const index_t* row_ptr, const std::int32_t* col, const index_t* addends_before,
                std::uint8_t* entry_of_addend) {
  struct addend {
    std::int32_t col;
    int number;
  };
  for_each_row<L, true>(w, [&](index_t i, const table& t, const lane_group<L>& lanes) {
    const index_t begin = row_ptr[i], length = row_ptr[i + 1] - begin;
    bool fresh;
    for (index_t k = lanes.rank; k < length; k += L) t.sum[t.find<L == 1>(col[begin + k], fresh)] = double(k);
    lanes.sync();
    source.template each_named<false>(
        lanes, i,
        [&](int l, int number) {
          return addend{source.b.col[l], number};
        },
        [&](addend one, double, double) {
          const int at = t.place_of(one.col);
          entry_of_addend[addends_before[i] + one.number] = at < 0 ? no_entry : static_cast<std::uint8_t>(t.sum[at]);
        });
  });
}

/// The sums of rows whose addends are named.
template <int L, class Source>
__global__ void __launch_bounds__(threads)
    add_named_kernel(work w, Source source, const index_t* row_ptr, const index_t* addends_before,
                     const std::uint8_t* entry_of_addend, double* val) {
  extern __shared__ double room[];
  const lane_group<L> lanes;
  const index_t mine = threadIdx.x / L, groups = blockDim.x / L;
  double* const sum = room + mine * apart(most_entries_of(w.log), L);
  take_turn();
  for (index_t at = blockIdx.x * groups + mine; at < w.count; at += gridDim.x * groups) {
    const index_t i = w.row[at], begin = row_ptr[i], length = row_ptr[i + 1] - begin;
    for (index_t k = lanes.rank; k < length; k += L) sum[k] = 0;
    lanes.sync();
    const std::uint8_t* const entry = entry_of_addend + addends_before[i];
    source.template each_named<true>(
        lanes, i, [&](int, int number) { return entry[number]; },
        [&](std::uint8_t to, double factor, double value) {
          if (to != no_entry) sum[to] = __dadd_rn(sum[to], __dmul_rn(factor, value));
        });
    lanes.sync();
    for (index_t k = lanes.rank; k < length; k += L) val[begin + k] = sum[k];
    lanes.sync();
  }
}

} // namespace row_sums

/// Finds which entries the addends of rows up to `most_named_log` go to, where memory allows.
template <int L, class Source>
void name_addends(rows_by_table& kept, Source source, const csr<double, index_t, cview>& c) {
  using namespace row_sums;
  gpu_array<index_t> before(c.shape.rows + 1);
  for_each(c.shape.rows, count_addends<Source>{source, c.row_ptr.data, before.data()});
  const index_t all = to_offsets(before);
  if (all == 0 || !gpu_takes(current_queue().ordinal, double(all))) return;
  kept.entry_of_addend = gpu_array<std::uint8_t>(all);
  kept.addends_before = std::move(before);
  for (int log = least_log; log <= most_named_log; ++log)
    if (const work w = work_of(kept, log); w.count > 0)
      run_near<L>(w, apart(index_t(1) << log, L) * bytes_of_a_place, name_kernel<L, Source>, source, c.row_ptr.data,
                  c.col.data, static_cast<const index_t*>(kept.addends_before.data()), kept.entry_of_addend.data());
}

/// `add_again` for a source whose addends can be named.
template <int L, class Source>
void add_again_named(rows_by_table& kept, Source source, const csr<double, index_t, cview>& c, double* val) {
  using namespace row_sums;
  if (kept.entry_of_addend.empty()) name_addends<L>(kept, source, c);
  const bool named = !kept.entry_of_addend.empty();
  for (int log = least_log; named && log <= most_named_log; ++log)
    if (const work w = work_of(kept, log); w.count > 0)
      run_near<L>(w, apart(most_entries_of(log), L) * sizeof(double), add_named_kernel<L, Source>, source,
                  c.row_ptr.data, static_cast<const index_t*>(kept.addends_before.data()),
                  static_cast<const std::uint8_t*>(kept.entry_of_addend.data()), val);
  run_from<L, true>(named ? most_named_log + 1 : least_log, kept, add_again_kernel<L, Source>, source, c.row_ptr.data,
                    c.col.data, val);
}

} // namespace furrow::gpu
