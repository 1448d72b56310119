// SPDX-License-Identifier: BSD-3-Clause
#include "function_operator.hpp"

#include "backends/cpu/space.hpp"

#include <furrow/function_operator.hpp>

namespace furrow {

template <class V> struct function_operator<V>::scratch {
  host_array<V> host;
  gpu_array<V> gpu;
  view<V> take(index_t n, bool on_gpu) {
    if (on_gpu) gpu.resize(n);
    else host.resize(n);
    return on_gpu ? as_view(gpu) : as_view(host);
  }
};

template <class V>
function_operator<V>::function_operator(shape2 shape, product f, device where)
    : shape_(shape), f_(std::move(f)), where_(where), scratch_(std::make_unique<scratch>()) {
  check(shape.rows >= 0 && shape.cols >= 0, fault::usage, "an operator has sides of 0 and more");
  check(bool(f_), fault::usage, "an operator needs a function: this one is empty");
}
template <class V> function_operator<V>::~function_operator() = default;

template <class V> void function_operator<V>::do_apply(V alpha, cview<V> x, V beta, view<V> y) const {
  if (y.empty()) return;
  if (alpha == V(0)) {
    if (where_.is_gpu()) return rescale_on_gpu(beta, y);
    return cpu::space<V>{}.sweep(y.size, pass(rescale_step<V>{beta}, both(y)));
  }
  if (alpha == V(1) && beta == V(0)) return f_(x, y);
  const view<V> t = scratch_->take(y.size, where_.is_gpu());
  f_(x, t);
  if (where_.is_gpu()) return combine_on_gpu<V>(alpha, t, beta, y);
  cpu::space<V>{}.sweep(y.size, pass(combine_step<V>{alpha, beta}, both(y), in(t)));
}

template <class V> void function_operator<V>::do_apply_dot(cview<V> x, view<V> y, slot xy) const {
  if (!y.empty()) f_(x, y);
  if (where_.is_gpu()) return dot_on_gpu<V>(x, y, xy);
  cpu::space<V>{}.dot(x, y, xy);
}

template class function_operator<double>;
template class function_operator<float>;

} // namespace furrow
