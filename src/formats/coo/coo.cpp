// SPDX-License-Identifier: BSD-3-Clause
#include "costs.hpp"
#include "triplets.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "backends/stored_values.hpp"
#include "core/parameters.hpp"

#include <array>

namespace furrow {
namespace coo_format {
namespace {

/// Pieces of the entries that begin and end between rows; each thread adds up the rows of its pieces. Rows without
/// entries belong to the piece that the next row with entries is in.
template <class V> class triplets_on_cpu final : public any_operator<V>, public stored_values<V> {
public:
  explicit triplets_on_cpu(coo<V> a) : matrix_{a.shape, std::move(a.row), std::move(a.col), std::move(a.val)} {
    constexpr index_t work = 16384;
    const index_t nnz = matrix_.val.size();
    for (index_t k = work; k < nnz; k += work) {
      while (k < nnz && matrix_.row[k] == matrix_.row[k - 1]) ++k;
      if (k < nnz) begin_.push_back(k);
    }
    begin_.push_back(nnz);
  }

  shape2 shape() const override { return matrix_.shape; }

  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    if (alpha == V(0)) {
      cpu::for_each_range(y.size, 1 << 14, [&](index_t first, index_t last) {
        for (index_t r = first; r < last; ++r) store(V(0), V(0), beta, y[r]);
      });
      return;
    }
    each_piece([&](index_t k) { piece(k, x, [&](index_t r, V sum) { store(alpha, sum, beta, y[r]); }); });
  }

  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override { do_apply_with(x, y, {{}, {x, xy}}); }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override {
    sum_pieces(
        e, pieces(), [&](auto&& f) { each_piece(f); },
        [&](index_t k, double* share) {
          if (e.b.data) piece(k, x, [&](index_t r, V sum) { y[r] = e.b[r] - sum; });
          else piece(k, x, [&](index_t r, V sum) { y[r] = sum; });
          add_sums_on_cpu(e, first_row(k), first_row(k + 1), y, share);
        });
  }

  double stored_bytes() const override { return byte_count(matrix_); }
  double bytes_per_apply() const override {
    return stored_bytes() + double(sizeof(V)) * double(matrix_.shape.rows + matrix_.shape.cols);
  }
  std::string kernel() const override { return "rows"; }
  std::optional<coo<V>> to_triplets() const override { return to_coo(matrix_); }
  std::vector<view<V>> values() override { return value_arrays(matrix_); }
  std::unique_ptr<any_operator<V>> copy() const override { return std::make_unique<triplets_on_cpu>(*this); }

private:
  index_t pieces() const { return static_cast<index_t>(begin_.size()) - 1; }

  template <class F> void each_piece(F&& f) const {
    cpu::for_each_range(pieces(), 2, [&](index_t first, index_t last) {
      for (index_t k = first; k < last; ++k) f(k);
    });
  }

  /// Of piece k, behind the last one the number of rows.
  index_t first_row(index_t k) const {
    if (k == pieces()) return matrix_.shape.rows;
    return begin_[k] == 0 ? 0 : matrix_.row[begin_[k] - 1] + 1;
  }

  template <class Out> void piece(index_t k, cview<V> x, Out out) const {
    const index_t first = begin_[k], last = begin_[k + 1], rows = matrix_.shape.rows;
    index_t row = first_row(k);
    for (index_t at = first; at < last;) {
      for (; row < matrix_.row[at]; ++row) out(row, V(0));
      V sum{};
      for (; at < last && matrix_.row[at] == row; ++at) sum += matrix_.val[at] * x[matrix_.col[at]];
      out(row++, sum);
    }
    if (last == matrix_.val.size())
      for (; row < rows; ++row) out(row, V(0));
  }

  triplets<V, host_array> matrix_;
  std::vector<index_t> begin_{0}; ///< pieces + 1 entries
};

template <class V> std::unique_ptr<any_operator<V>> make_cpu(coo<V> a, std::string_view, std::string_view) {
  return std::make_unique<triplets_on_cpu<V>>(std::move(a));
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  no_parameters("coo", parameters);
  return {.bytes = (8 + bytes_of(p)) * double(s.nnz), .places = double(s.nnz), .peak_extra_bytes = 0};
}

constexpr std::array cpu_kernels{kernel_entry{"rows", "rows split by their entries", &costs::cpu_rows}};
constexpr std::array gpu_kernels{
    kernel_entry{"segmented", "segmented reduction of equal shares, carries added in order", &costs::gpu_segmented}};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);

extern const format_entry entry{
    "coo",
    "triplets: the form that files have; for matrices with very uneven rows",
    lay_out,
    {cpu_kernels, make_cpu<double>, make_cpu<float>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>)},
};

} // namespace coo_format
} // namespace furrow
