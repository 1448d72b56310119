// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/csr/csr.hpp"

#include <furrow/array.hpp>

/// Matrices by rows in the memory of the current GPU, fewer than 2^31 entries each; what src/matrix does on the host.
/// Everything is enqueued on the current queue, and waits a few times for sizes. The same bits on every run.
namespace furrow::gpu {

template <class V> using device_rows = csr<V, index_t, gpu_array>;

/// A', sorted: a stable radix sort of the entries by column. from: gets the number in A of each entry, which is what
/// other values of A need.
device_rows<double> transposed(const device_rows<double>& a, gpu_array<std::int32_t>* from = nullptr);

inline constexpr index_t most_entries = 0x7fffffff;

/// Whether the entries of a row come by ascending columns, or in any order, from run to run another, which is faster.
enum class row_order { sorted, any };

/// A B; entries whose addends cancel stay, as zeros. Sums in double, each in the order of the entries of A's row and
/// then of B's, products rounded before they are added: the bits of `furrow::multiply` in a build without fused
/// operations. A and B may be in any order. See gpu_row_sums.hpp.
/// kept: gets what `multiply_again` needs, 4 bytes a row at first.
struct rows_by_table;
device_rows<double> multiply(const device_rows<double>& a, const device_rows<double>& b,
                             row_order order = row_order::sorted, rows_by_table* kept = nullptr);

/// Rows of a matrix by the size of the tables in which their sums are added up.
struct rows_by_table {
  gpu_array<std::int32_t> row;
  host_array<index_t> first; ///< for each log of a size: where rows of at least that begin
  /// From the first new values on: which entry of its row an addend goes to, those of row i from addends_before[i] on.
  gpu_array<index_t> addends_before = {};
  gpu_array<std::uint8_t> entry_of_addend = {};
  double stored_bytes() const {
    return double(row.byte_count() + addends_before.byte_count() + entry_of_addend.byte_count());
  }
};

/// The numbers of A B for other values of A and B in the same places: c is A B by `multiply`, whose values are not
/// looked at, to val, in the order of its columns. The bits of `multiply`. Nothing is counted, sorted or waited for: a
/// table takes the columns that are known, and then the sums. Where memory allows, the first call keeps for rows of up
/// to 171 entries which of them an addend goes to, a byte an addend and 8 a row: later calls search for nothing.
void multiply_again(const csr<double, index_t, cview>& a, const csr<double, index_t, cview>& b, rows_by_table& kept,
                    const csr<double, index_t, cview>& c, view<double> val);

} // namespace furrow::gpu
