// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/space.hpp"
#include "preconditioners/entry.hpp"

#include <utility>

namespace furrow {

/// y = d x, element by element, on the current GPU.
#if FURROW_HAS_GPU
template <class V> void scale_on_gpu(cview<V> d, cview<V> x, view<V> y);
#else
template <class V> void scale_on_gpu(cview<V>, cview<V>, view<V>) { require(false, "this build has no GPU part"); }
#endif

/// M is a diagonal matrix. Solvers use `diagonal()` inside a pass that they make anyway.
template <class V, class Array> class diagonal_scaling final : public any_preconditioner<V> {
public:
  explicit diagonal_scaling(Array diagonal) : diagonal_(std::move(diagonal)) {}
  void apply(cview<V> r, view<V> z) const override {
    if constexpr (std::is_same_v<Array, gpu_array<V>>) scale_on_gpu<V>(as_cview(diagonal_), r, z);
    else cpu::space<V>{}.sweep(r.size, scale_step<V>{as_cview(diagonal_), r, z});
  }
  typename any_preconditioner<V>::kind what() const override { return any_preconditioner<V>::kind::diagonal; }
  cview<V> diagonal() const override { return as_cview(diagonal_); }
  double stored_bytes() const override { return static_cast<double>(diagonal_.byte_count()); }

private:
  Array diagonal_;
};

template <class V> std::unique_ptr<any_preconditioner<V>> make_diagonal_scaling(host_array<V> diagonal, device where) {
  if (where.is_gpu()) return std::make_unique<diagonal_scaling<V, gpu_array<V>>>(gpu_array<V>(diagonal));
  return std::make_unique<diagonal_scaling<V, host_array<V>>>(std::move(diagonal));
}

} // namespace furrow
