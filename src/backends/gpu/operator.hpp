// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_rows.hpp"
#include "exact_rows.hpp"
#include "row_end.hpp"
#include "space.hpp"

#include "backends/function_operator.hpp"

#include <furrow/storage.hpp>

#include <algorithm>
#include <utility>

namespace furrow::gpu {

/// y <- factor y; a zero factor does not read y.
template <class V> struct scale_by_step {
  static constexpr int reads = 1, writes = 1;
  V factor;
  view<V> y;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const { return factor == V(0) ? V(0) : factor * y[i]; }
  FURROW_HD void operator()(index_t i, V value, sums<0>) const { y[i] = value; }
};

/// What `ending` asks for by passes of their own, around a kernel that ends its rows plainly: `product()` is
/// y <- alpha A x + beta y.
template <class V, int N, class F> void end_rows_apart(const row_end<V, N>& ending, view<V> y, F product) {
  if constexpr (N > 0)
    if (ending.z != y.data) space<V>{}.copy({ending.z, y.size}, y);
  product();
  if constexpr (N == 1) space<V>{}.dot({ending.u[0], y.size}, y, ending.out[0]);
  if constexpr (N > 1) sweep_gram<V>(space<V>{}, {{ending.u[0], y.size}, {ending.u[1], y.size}, ending.out[0]}, y);
}

/// What operators on the GPU have in common: a matrix in GPU memory, and alpha == 0, which reads neither A nor x.
template <class V, class Format> class stored_operator : public any_operator<V> {
public:
  explicit stored_operator(Format matrix) : matrix_(std::move(matrix)) {}
  shape2 shape() const final { return matrix_.shape; }
  device where() const final { return where_; }
  double stored_bytes() const final { return byte_count(matrix_); }
  double bytes_per_apply() const final {
    return stored_bytes() + double(sizeof(V)) * double(matrix_.shape.rows + matrix_.shape.cols);
  }
  std::optional<coo<V>> to_triplets() const final { return to_coo(download(matrix_)); }
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const final {
    if (y.empty()) return;
    const selected_device here(where_.ordinal);
    if (alpha == V(0)) space<V>{}.sweep(y.size, scale_by_step<V>{beta, y});
    else multiply(alpha, x, beta, y);
  }

  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override {
    const selected_device here(where_.ordinal);
    any_operator<V>::do_apply_with(x, y, e);
  }

  /// Where no row is so long that the one thread that walks it would be waited for.
  std::optional<double> do_exact_residual(cview<V> b, cview<V> x, view<V> r) const final {
    const selected_device here(where_.ordinal);
    if constexpr (walks)
      if (this->has_short_rows()) return exact_rows(view_of(matrix_), b, x, r);
    return std::nullopt;
  }

  bool multiplies_blocks() const override { return walks; }
  void do_apply_block(cview<V> x, view<V> y, index_t count) const final {
    const selected_device here(where_.ordinal);
    if constexpr (walks) {
      const double entries = stored_bytes() / double(sizeof(V) + sizeof(std::int32_t));
      check_several(count);
      if (multiply_several(x, y, count)) return;
      if constexpr (!has_blocks<decltype(view_of(matrix_))>)
        multiply_block(view_of(matrix_), entries / double(std::max<index_t>(matrix_.shape.rows, 1)), x, y, count);
    } else any_operator<V>::do_apply_block(x, y, count);
  }

protected:
  virtual void multiply(V alpha, cview<V> x, V beta, view<V> y) const = 0; ///< alpha != 0, at least one row
  /// Whether one thread may walk along every row.
  virtual bool has_short_rows() const { return true; }
  /// Y <- A X for 2, 4, 8 or 16 vectors by other means than a walk along each row; false, and nothing done, where the
  /// walk will do.
  virtual bool multiply_several(cview<V> /*x*/, view<V> /*y*/, index_t /*count*/) const { return false; }

  Format matrix_;

private:
  static constexpr bool walks = walks_rows<decltype(view_of(std::declval<const Format&>()))>;

  device where_{device::kind::gpu, current_queue().ordinal};
};

/// One whose product takes an epilogue along in the same pass: Self has a `launch(alpha, x, beta, y, row_end<V, N>)`.
template <class Self, class V, class Format> class one_pass_operator : public stored_operator<V, Format> {
public:
  using stored_operator<V, Format>::stored_operator;
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const final { do_apply_with(x, y, {{}, {x, xy}}); }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const final {
    const selected_device here(this->where().ordinal);
    const auto run = [&](V alpha, V beta, const auto& ending) { self().launch(alpha, x, beta, y, ending); };
    if (!with_row_end(e, y, current_queue(), run)) any_operator<V>::do_apply_with(x, y, e);
  }

private:
  void multiply(V alpha, cview<V> x, V beta, view<V> y) const final {
    self().launch(alpha, x, beta, y, row_end<V, 0>{});
  }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

} // namespace furrow::gpu
