// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block.hpp"

#include "backends/row_kernel.hpp"
#include "backends/stored_values.hpp"

#include <furrow/operator.hpp>
#include <furrow/storage.hpp>

#include <utility>

namespace furrow::cpu {

/// Any row-shaped format as an operator on the CPU. Rows: see each_row. A format with `block_rows<W>(A, first, last, x,
/// y)` multiplies W vectors that lie row by row in one pass.
template <class V, class Format, class Rows = each_row>
class row_operator final : public any_operator<V>, public stored_values<V> {
public:
  row_operator(Format matrix, row_pieces pieces, std::string kernel)
      : matrix_(std::move(matrix)), pieces_(std::move(pieces)), kernel_(std::move(kernel)) {}

  shape2 shape() const override { return matrix_.shape; }
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    rows_on_cpu<Rows>(view_of(matrix_), pieces_, alpha, x, beta, y);
  }
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override { do_apply_with(x, y, {{}, {x, xy}}); }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override {
    rows_with_on_cpu<Rows>(view_of(matrix_), pieces_, x, y, e);
  }
  void do_apply_block(cview<V> x, view<V> y, index_t count) const override {
    if constexpr (has_block_rows) {
      const auto a = view_of(matrix_);
      const bool done = with_block_width(count, [&](auto width) {
        for_each_piece(
            pieces_, [&](index_t, index_t first, index_t last) { block_rows<width>(a, first, last, x.data, y.data); });
      });
      if (done) return;
    }
    any_operator<V>::do_apply_block(x, y, count);
  }
  bool multiplies_blocks() const override { return has_block_rows; }
  double stored_bytes() const override { return byte_count(matrix_); }
  double bytes_per_apply() const override {
    return stored_bytes() + double(sizeof(V)) * double(matrix_.shape.rows + matrix_.shape.cols);
  }
  std::string kernel() const override { return kernel_; }
  std::optional<coo<V>> to_triplets() const override { return to_coo(matrix_); }
  std::vector<view<V>> values() override { return value_arrays(matrix_); }
  std::unique_ptr<any_operator<V>> copy() const override { return std::make_unique<row_operator>(*this); }

private:
  static constexpr bool has_block_rows = requires(const Format& a, const V* x, V* y) {
    block_rows<2>(view_of(a), index_t(), index_t(), x, y);
  };

  Format matrix_;
  row_pieces pieces_;
  std::string kernel_;
};

} // namespace furrow::cpu
