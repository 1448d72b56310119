// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/kept_array.hpp"
#include "formats/csr/csr.hpp"

#include <furrow/coo.hpp>
#include <furrow/sparse.hpp>
#include <furrow/stats.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// What `measure` has found of values and a conversion wants again.
template <class V> struct value_facts {
  std::optional<std::vector<V>> distinct; ///< as `distinct_values`, where there are few
};

/// A matrix by rows in the memory of the current GPU, as the way from triplets to a format meets it: rows sorted, each
/// place once, offsets in 64 bits whatever came. Copies share the arrays.
template <class V> struct rows_on_gpu {
  shape2 shape;
  kept_array<index_t> row_ptr; ///< shape.rows + 1 offsets
  kept_array<std::int32_t> col;
  kept_array<V> val;
  std::shared_ptr<value_facts<V>> known = nullptr; ///< of `val`; null: nothing is kept

  index_t nnz() const { return val.size(); }
  csr<V, index_t, cview> view() const { return {shape, as_cview(row_ptr), as_cview(col), as_cview(val)}; }
};

struct first_facts; // gpu_look.hpp

/// What one pass over the rows tells, for `stats` and for the choice of a method.
struct rows_look {
  index_t explicit_zeros = 0, lower_bandwidth = 0, upper_bandwidth = 0;
  index_t diagonals = 0;       ///< with entries
  index_t stored_diagonal = 0; ///< entries on it that are not 0
  double norm_inf = 0, largest = 0;
  bool finite = true;
  index_t zero_diagonal = 0, negative_diagonal = 0, small_diagonal = 0, dominant = 0; ///< rows, as in `features`
  double largest_row = 0, least_row = 0;    ///< the largest |a_ij| of a row that has one: of all rows
  std::shared_ptr<const first_facts> first; ///< of rows that lie on a GPU: for `measure`
};

/// What of a matrix is worked out on a GPU. The same numbers as on the host, whose functions have these names or stand
/// beside them; the same bits on every run, for sums have the order of `row_sum` and the rest are integers, minima and
/// maxima. Enqueued on the current queue, and waited for. A build without a GPU part throws `fault::device`.

/// Triplets that are sent there, 4 bytes and a value an entry and an offset a row, and looked at there; where there are
/// few values, or all of them are exact in single precision, a byte or four in place of a value. look: null, or
/// where what was seen goes, from `first` on as by `look_at_rows`. Throws as `check_triplets`.
template <class V> rows_on_gpu<V> send_rows(const coo<V>& a, rows_look* look = nullptr, index_t first = 0);

/// What becomes of rows on the GPU that have no owner: `borrowed` ones are not copied, and whoever keeps them copies
/// them (`owned`), for the caller's arrays may end.
enum class lent_rows { copied, borrowed };

/// Rows of a caller, sent there or, where they lie there and have an owner, kept where they lie but for the offsets
/// and, where I has 64 bits, the columns. Nothing where they are not sorted or hold a place twice. look: null, or where
/// what was seen on the way goes. Throws as `to_coo`, and `fault::usage` for arrays that are not where `a.where` says.
template <class V, class I>
std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, I>& a, rows_look* look = nullptr,
                                        lent_rows lent = lent_rows::copied);

/// In host memory.
template <class V> coo<V> bring_home(const rows_on_gpu<V>& a);
template <class V, class I> csr_arrays<V, I> brought_home(const csr_arrays<V, I>& a);

/// -A.
template <class V> rows_on_gpu<V> negated(const rows_on_gpu<V>& a);

/// first: the number that row 0 has in the whole matrix where these are some of its rows: diagonals are that matrix's.
template <class V> rows_look look_at_rows(const rows_on_gpu<V>& a, index_t first = 0);

/// As `furrow::measure`. Keeps what it finds in `a.known`.
template <class V> stats measure(const rows_on_gpu<V>& a, const rows_look& looked);

/// As `is_symmetric`, of triplets.
template <class V> bool is_symmetric(const rows_on_gpu<V>& a);

/// A[i,i], 0 where there is no entry; of a row each.
template <class V> gpu_array<V> diagonal_of(const rows_on_gpu<V>& a);

/// As `distinct_values`.
template <class V> std::vector<V> distinct_on_gpu(cview<V> values);

} // namespace furrow
