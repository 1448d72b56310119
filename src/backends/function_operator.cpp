// SPDX-License-Identifier: BSD-3-Clause
#include "function_operator.hpp"

#include "backends/cpu/space.hpp"

#include <furrow/function_operator.hpp>

#include <mutex>
#include <vector>

namespace furrow {

/// Room for A x where y must be kept. On a GPU one vector for all products, whose address a recorded graph keeps; in
/// host memory each product that runs at the moment has one of its own.
template <class V> struct function_operator<V>::scratch {
  gpu_array<V> gpu;

  host_array<V> take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return {};
    host_array<V> taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }
  void give_back(host_array<V> taken) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(taken));
  }

private:
  std::mutex mutex_;
  std::vector<host_array<V>> free_;
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
  if (where_.is_gpu()) {
    scratch_->gpu.resize(y.size);
    f_(x, as_view(scratch_->gpu));
    return combine_on_gpu<V>(alpha, as_cview(scratch_->gpu), beta, y);
  }
  host_array<V> t = scratch_->take();
  t.resize(y.size);
  f_(x, as_view(t));
  cpu::space<V>{}.sweep(y.size, pass(combine_step<V>{alpha, beta}, both(y), in(as_cview(t))));
  scratch_->give_back(std::move(t));
}

template <class V> void function_operator<V>::do_apply_dot(cview<V> x, view<V> y, slot xy) const {
  if (!y.empty()) f_(x, y);
  if (where_.is_gpu()) return dot_on_gpu<V>(x, y, xy);
  cpu::space<V>{}.dot(x, y, xy);
}

template class function_operator<double>;
template class function_operator<float>;

} // namespace furrow
