// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/operator.hpp>

#include <functional>
#include <memory>

namespace furrow {

/// A matrix that is not stored: y = A x by a function of yours.
///
/// `f` gets x and y in the memory of `where`, which do not overlap, and writes all of y; on a GPU it enqueues kernels
/// on `current_stream(where)` and does nothing else, for a solver records it into a graph. Factors other than alpha = 1
/// and beta = 0 cost a pass over y and a vector beside it, x . y a pass over both. As repeatable as `f` is.
template <class V> class function_operator final : public any_operator<V> {
public:
  using product = std::function<void(cview<V> x, view<V> y)>;
  /// Throws `fault::usage` for sides below zero and for an empty function.
  function_operator(shape2 shape, product f, device where = {});
  ~function_operator() override;

  shape2 shape() const override { return shape_; }
  device where() const override { return where_; }
  double stored_bytes() const override { return 0; }
  double bytes_per_apply() const override { return double(sizeof(V)) * double(shape_.rows + shape_.cols); }
  std::string kernel() const override { return "function"; }

protected:
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override;
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override;

private:
  shape2 shape_;
  product f_;
  device where_;
  struct scratch; ///< A x where y must be kept
  std::unique_ptr<scratch> scratch_;
};

} // namespace furrow
