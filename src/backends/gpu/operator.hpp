// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_rows.hpp"
#include "space.hpp"

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

  bool multiplies_blocks() const override { return walks; }
  void do_apply_block(cview<V> x, view<V> y, index_t count) const final {
    const selected_device here(where_.ordinal);
    if constexpr (walks) {
      const double entries = stored_bytes() / double(sizeof(V) + sizeof(std::int32_t));
      multiply_block(view_of(matrix_), entries / double(std::max<index_t>(matrix_.shape.rows, 1)), x, y, count);
    } else any_operator<V>::do_apply_block(x, y, count);
  }

protected:
  virtual void multiply(V alpha, cview<V> x, V beta, view<V> y) const = 0; ///< alpha != 0, at least one row

  Format matrix_;

private:
  static constexpr bool walks = walks_rows<decltype(view_of(std::declval<const Format&>()))>;

  device where_{device::kind::gpu, current_queue().ordinal};
};

/// One whose product takes x . y along in the same pass: Self has a `launch(alpha, x, beta, y, sum_target<N>)`.
template <class Self, class V, class Format> class one_pass_operator : public stored_operator<V, Format> {
public:
  using stored_operator<V, Format>::stored_operator;
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const final {
    const selected_device here(this->where().ordinal);
    self().launch(V(1), x, V(0), y, target(current_queue(), xy));
  }

private:
  void multiply(V alpha, cview<V> x, V beta, view<V> y) const final {
    self().launch(alpha, x, beta, y, target(current_queue()));
  }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

} // namespace furrow::gpu
