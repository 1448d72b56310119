// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/row_kernel.hpp"

#include <furrow/operator.hpp>
#include <furrow/storage.hpp>

#include <utility>

namespace furrow::cpu {

/// Any row-shaped format as an operator on the CPU. Rows: see each_row.
template <class V, class Format, class Rows = each_row> class row_operator final : public any_operator<V> {
public:
  row_operator(Format matrix, row_pieces pieces, std::string kernel)
      : matrix_(std::move(matrix)), pieces_(std::move(pieces)), kernel_(std::move(kernel)) {}

  shape2 shape() const override { return matrix_.shape; }
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    rows_on_cpu<Rows>(view_of(matrix_), pieces_, alpha, x, beta, y);
  }
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override {
    rows_dot_on_cpu<Rows>(view_of(matrix_), pieces_, x, y, xy);
  }
  double stored_bytes() const override { return byte_count(matrix_); }
  double bytes_per_apply() const override {
    return stored_bytes() + double(sizeof(V)) * double(matrix_.shape.rows + matrix_.shape.cols);
  }
  std::string kernel() const override { return kernel_; }
  std::optional<coo<V>> to_triplets() const override { return to_coo(matrix_); }

private:
  Format matrix_;
  row_pieces pieces_;
  std::string kernel_;
};

} // namespace furrow::cpu
