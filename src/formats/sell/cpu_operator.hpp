// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "sell.hpp"

#include "backends/cpu/block.hpp"
#include "backends/row_kernel.hpp"
#include "backends/stored_values.hpp"

#include <furrow/storage.hpp>

#include <algorithm>

namespace furrow::cpu {

/// A sliced format as an operator on the CPU. Slices: a type with `sums(a, slice, x, out)`, which writes the sums of
/// the rows of a slice to out[0 .. height), and `block_sums<W>(a, slice, x, out)`, which does so for W vectors that lie
/// row by row. Pieces are whole slices, whose number depends on the matrix alone.
template <class V, class Format, class Slices>
class slice_operator final : public any_operator<V>, public stored_values<V> {
public:
  /// `places(s)`: places before slice s.
  template <class Places>
  slice_operator(Format matrix, index_t slices, index_t height, Places places, std::string kernel)
      : matrix_(std::move(matrix)), height_(height), pieces_(cut_rows(slices, places)), kernel_(std::move(kernel)) {}

  shape2 shape() const override { return matrix_.shape; }

  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    const auto a = view_of(matrix_);
    for_each_piece(pieces_, [&](index_t, index_t first, index_t last) {
      alignas(64) V sum[most_height] = {};
      for (index_t s = first; s < last; ++s) {
        if (alpha != V(0)) Slices::sums(a, s, x, sum);
        if (alpha == V(1) && beta == V(0))
          for (index_t i = 0, n = rows_of(s); i < n; ++i) y[row_at(a, s * height_ + i)] = sum[i];
        else
          for (index_t i = 0, n = rows_of(s); i < n; ++i) store(alpha, sum[i], beta, y[row_at(a, s * height_ + i)]);
      }
    });
  }

  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override { do_apply_with(x, y, {{}, {x, xy}}); }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override {
    const auto a = view_of(matrix_);
    sum_over_pieces(pieces_, e, [&](index_t first, index_t last, double* share) {
      alignas(64) V sum[most_height] = {};
      for (index_t s = first; s < last; ++s) {
        const index_t begin = s * height_, rows = rows_of(s);
        Slices::sums(a, s, x, sum);
        if (e.b.data)
          for (index_t i = 0; i < rows; ++i) sum[i] = e.b[row_at(a, begin + i)] - sum[i];
        for (index_t i = 0; i < rows; ++i) y[row_at(a, begin + i)] = sum[i];
        const auto add = [&](int k, auto term) {
          double total = share[k];
          for (index_t i = 0; i < rows; ++i) total += term(sum[i], row_at(a, begin + i));
          share[k] = total;
        };
        if (e.one.to.at) add(0, [&](V of_y, index_t row) { return double(e.one.u[row]) * double(of_y); });
        if (!e.all.to.at) continue;
        const cview<V> u = e.all.u, w = e.all.w;
        add(0, [&](V of_y, index_t) { return double(of_y) * double(of_y); });
        add(1, [&](V of_y, index_t row) { return double(u[row]) * double(of_y); });
        add(2, [&](V of_y, index_t row) { return double(w[row]) * double(of_y); });
        add(3, [&](V, index_t row) { return double(u[row]) * double(u[row]); });
        add(4, [&](V, index_t row) { return double(u[row]) * double(w[row]); });
      }
    });
  }

  void do_apply_block(cview<V> x, view<V> y, index_t count) const override {
    const auto a = view_of(matrix_);
    const bool done = with_block_width(count, [&](auto width) {
      for_each_piece(pieces_, [&](index_t, index_t first, index_t last) {
        alignas(64) V sum[most_height * width]; // NOLINT: written before it is read
        for (index_t s = first; s < last; ++s) {
          Slices::template block_sums<width>(a, s, x.data, sum);
          for (index_t i = 0, n = rows_of(s); i < n; ++i)
            std::copy_n(sum + i * width, width, y.data + row_at(a, s * height_ + i) * width);
        }
      });
    });
    if (!done) any_operator<V>::do_apply_block(x, y, count);
  }
  bool multiplies_blocks() const override { return true; }

  double stored_bytes() const override { return byte_count(matrix_); }
  double bytes_per_apply() const override {
    return stored_bytes() + double(sizeof(V)) * double(matrix_.shape.rows + matrix_.shape.cols);
  }
  std::string kernel() const override { return kernel_; }
  std::optional<coo<V>> to_triplets() const override { return to_coo(matrix_); }
  std::vector<view<V>> values() override { return value_arrays(matrix_); }
  std::unique_ptr<any_operator<V>> copy() const override { return std::make_unique<slice_operator>(*this); }

private:
  static constexpr index_t most_height = 256;
  index_t rows_of(index_t slice) const { return std::min(height_, matrix_.shape.rows - slice * height_); }

  Format matrix_;
  index_t height_;
  row_pieces pieces_; ///< of slices
  std::string kernel_;
};

} // namespace furrow::cpu
