// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

#include <cstdint>
#include <vector>

namespace furrow {

/// R A P for factors whose places stay, from one set of numbers to the next: where each addend of T = A P and of R T
/// goes is found once. Takes 2 bytes an addend, of blocks one for all rows and entries that share it, 8 a row of T and
/// of the result and 4 an entry of the result; while it multiplies 8 bytes an entry of T.
class triple_product_plan {
public:
  triple_product_plan() = default;
  /// product: R A P of these factors by `triple_product`, R = P'. block: so many rows of P at a time, from the first
  /// on, have entries in the same columns, which are as many at a time as well.
  triple_product_plan(row_view<double> a, row_view<double> p, row_view<double> r, row_view<double> product,
                      int block = 1);

  /// Whether all rows of T and of the result have few enough entries to be counted in 16 bits; `multiply` needs it.
  bool fits() const { return fits_; }

  /// The numbers of R A P, in the order of `col`: the bits of `triple_product`, whose sums take their addends in this
  /// order. Parallel by rows of A, then of R; nothing is searched or looked up. The same bits for every number of
  /// threads.
  void multiply(row_view<double> r, row_view<double> a, row_view<double> p, view<double> product) const;

  shape2 shape() const { return shape_; }
  cview<index_t> row_ptr() const { return as_cview(row_ptr_); }
  cview<std::int32_t> col() const { return as_cview(col_); }
  double stored_bytes() const;

private:
  /// Rows, or nodes of rows, and where their addends go within each, in the order in which they come.
  struct piece {
    index_t first, last;
    host_array<std::uint16_t> wide{};
    host_array<std::uint8_t> narrow{}; ///< in their place where no row has more entries than it can count

    void narrow_down(index_t longest);
    /// f(the places).
    template <class F> void read(F f) const {
      if (wide.empty()) f(narrow.data());
      else f(wide.data());
    }
  };

  template <int Block> void find_places(row_view<double> a, row_view<double> p, row_view<double> r);
  template <int Block>
  void multiply_blocks(row_view<double> r, row_view<double> a, row_view<double> p, view<double> product) const;

  shape2 shape_;
  int block_ = 1;
  bool fits_ = true;
  host_array<index_t> t_row_ptr_, row_ptr_; ///< of T, whose entries stand in the order of their addends; of the result
  host_array<std::int32_t> col_;            ///< of the result, ascending
  std::vector<piece> of_t_, of_product_;
};

} // namespace furrow
