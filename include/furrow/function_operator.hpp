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
/// on `current_stream(where)` and does nothing else, for a solver records it into a graph, unless it is
/// `driven_by_host`. Factors other than alpha = 1 and beta = 0 cost a pass over y and a vector beside it, a sum of an
/// `epilogue` a pass over both of its vectors, b a copy. As repeatable as `f` is. On the CPU any number of threads may
/// multiply at once where they may call `f` at once; what `f` throws comes out of the product.
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

/// While it lives, the host drives the loops of this thread's solvers on that GPU, and waits after each step: for
/// operators and preconditioners that cannot be recorded into a graph, since they wait themselves, take memory, or
/// enqueue something else each time, as functions of an interpreter do. The same bits. Begins inside the
/// `execution_scope` that it is to hold for, and ends before it. On the CPU it does nothing; throws `fault::device` for
/// a GPU that cannot be used.
class driven_by_host {
public:
  explicit driven_by_host(device where);
  driven_by_host(const driven_by_host&) = delete;
  driven_by_host& operator=(const driven_by_host&) = delete;
  ~driven_by_host();
  struct impl;

private:
  std::unique_ptr<impl> impl_;
};

} // namespace furrow
