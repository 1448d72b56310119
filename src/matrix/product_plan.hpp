// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

namespace furrow {

/// R A P for factors whose places stay, from one set of numbers to the next: the places of T = A P and of the result
/// are found once. Takes 4 bytes an entry of T and of the result and 8 a row of either; while it multiplies 8 bytes an
/// entry of T, and 4 bytes a column of P and thread.
class triple_product_plan {
public:
  triple_product_plan() = default;
  /// product: R A P of these factors by `triple_product`, R = P'. block: so many rows of P at a time, from the first
  /// on, have entries in the same columns, which are as many at a time as well.
  triple_product_plan(row_view<double> a, row_view<double> p, row_view<double> product, int block = 1);

  /// The numbers of R A P, in the order of `col`: the bits of `triple_product`, whose sums take their addends in this
  /// order. Parallel by rows of A, then of R; no search, no sort; places are looked up once a block. The same bits for
  /// every number of threads.
  void multiply(row_view<double> r, row_view<double> a, row_view<double> p, view<double> product) const;

  shape2 shape() const { return shape_; }
  cview<index_t> row_ptr() const { return as_cview(row_ptr_); }
  cview<std::int32_t> col() const { return as_cview(col_); }
  double stored_bytes() const {
    return double(t_row_ptr_.byte_count() + t_col_.byte_count() + row_ptr_.byte_count() + col_.byte_count());
  }

private:
  template <int Block>
  void multiply_blocks(row_view<double> r, row_view<double> a, row_view<double> p, view<double> product) const;

  shape2 shape_;
  int block_ = 1;
  host_array<index_t> t_row_ptr_, row_ptr_; ///< of T, of the result
  host_array<std::int32_t> t_col_, col_;    ///< of T as they come, of the result ascending
};

} // namespace furrow
