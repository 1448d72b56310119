// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/csr/csr.hpp"

#include <furrow/array.hpp>

/// Matrices by rows in the memory of the current GPU, fewer than 2^31 entries each; what src/matrix does on the host.
/// Everything is enqueued on the current queue, and waits a few times for sizes. The same bits on every run.
namespace furrow::gpu {

template <class V> using device_rows = csr<V, index_t, gpu_array>;

/// A', sorted: a stable radix sort of the entries by column.
device_rows<double> transposed(const device_rows<double>& a);

inline constexpr index_t most_entries = 0x7fffffff;

/// Whether the entries of a row come by ascending columns, or in any order, from run to run another, which is faster.
enum class row_order { sorted, any };

/// A B; entries whose addends cancel stay, as zeros. Sums in double, each in the order of the entries of A's row and
/// then of B's, products rounded before they are added: the bits of `furrow::multiply` in a build without fused
/// operations. A and B may be in any order. See gpu_row_sums.hpp.
device_rows<double> multiply(const device_rows<double>& a, const device_rows<double>& b,
                             row_order order = row_order::sorted);

} // namespace furrow::gpu
