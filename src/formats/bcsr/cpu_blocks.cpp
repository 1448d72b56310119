// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_blocks.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/prefetch.hpp"
#include "core/blocks.hpp"

namespace furrow::bcsr_rows {
namespace {

/// out[i] <- (A x)[r K + i], 0 <= i < K. `x_end` holds the elements of x at the last, incomplete block column `end`,
/// zeros behind them.
template <int K, class V, class I>
FURROW_INLINE inline void block_row(const bcsr<V, I, cview>& a, index_t r, const V* x, std::int32_t end, const V* x_end,
                                    V* out) {
  V sum[K][K] = {};
  for (index_t b = a.block_ptr.data[r], last = a.block_ptr.data[r + 1]; b < last; ++b) {
    const V* const val = a.val.data + b * K * K;
    const std::int32_t c = a.block.data[b];
    const V* const at = c == end ? x_end : x + index_t(c) * K;
    cpu::prefetch(a.block.data + b);
    for (int k = 0; k < K * K; k += 64 / int(sizeof(V))) cpu::prefetch(val + k);
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j)
#pragma GCC unroll 8
      for (int i = 0; i < K; ++i) sum[j][i] += val[j * K + i] * at[j];
  }
#pragma GCC unroll 8
  for (int i = 0; i < K; ++i) {
    V total = sum[0][i];
#pragma GCC unroll 8
    for (int j = 1; j < K; ++j) total += sum[j][i];
    out[i] = total;
  }
}

template <int K, class V, class I>
void rows(const bcsr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
  V x_end[K] = {}, some[K];
  const auto end = static_cast<std::int32_t>(a.shape.cols / K);
  for (index_t c = index_t(end) * K; c < a.shape.cols; ++c) x_end[c - index_t(end) * K] = x[c];
  cpu::widest([&]() FURROW_INLINE {
    for (index_t r = first / K; r * K < last; ++r) {
      const index_t begin = r * K;
      if (begin >= first && begin + K <= last) {
        block_row<K>(a, r, x.data, end, x_end, out + (begin - first));
        continue;
      }
      block_row<K>(a, r, x.data, end, x_end, some);
      for (index_t row = std::max(begin, first); row < std::min(begin + K, last); ++row)
        out[row - first] = some[row - begin];
    }
  });
}

} // namespace

template <class V, class I>
void whole_blocks::sums(const bcsr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
  with_edge(a.edge, [&](auto k) { rows<k>(a, first, last, x, out); });
}

#define FURROW_BLOCKS(V, I) template void whole_blocks::sums(const bcsr<V, I, cview>&, index_t, index_t, cview<V>, V*);
FURROW_BLOCKS(double, std::int32_t)
FURROW_BLOCKS(double, std::int64_t)
FURROW_BLOCKS(float, std::int32_t)
FURROW_BLOCKS(float, std::int64_t)
#undef FURROW_BLOCKS

} // namespace furrow::bcsr_rows
