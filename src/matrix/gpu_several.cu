// SPDX-License-Identifier: BSD-3-Clause
#include "several.hpp"

#include "several_groups.hpp"

#include "backends/gpu/primitives.hpp"
#include "backends/lanes.hpp"

namespace furrow {
namespace gpu_several {

template <class V> struct gather_element {
  const V* x;
  several::places at;
  index_t first, count, width;
  V* to;
  FURROW_HD void operator()(index_t k) const {
    const index_t i = k / width, q = k % width;
    to[k] = q < count ? x[(first + q) * at.next + i * at.step] : V(0);
  }
};
template <class V> struct scatter_element {
  const V* from;
  V alpha, beta;
  V* y;
  several::places at;
  index_t first, count, width;
  FURROW_HD void operator()(index_t k) const {
    const index_t i = k / count, q = k % count;
    store(alpha, from[i * width + q], beta, y[(first + q) * at.next + i * at.step]);
  }
};

struct memory {
  template <class V> using array = gpu_array<V>;

  template <class V>
  static void gather(const V* x, several::places at, index_t n, index_t first, index_t count, index_t width, V* to) {
    gpu::for_each(n * width, gather_element<V>{x, at, first, count, width, to});
  }
  template <class V>
  static void scatter(const V* from, V alpha, V beta, V* y, several::places at, index_t n, index_t first, index_t count,
                      index_t width) {
    gpu::for_each(n * count, scatter_element<V>{from, alpha, beta, y, at, first, count, width});
  }
  template <class V> static void clear(view<V> v) {
    if (!v.empty()) gpu::fill_bytes(v.data, 0, static_cast<std::size_t>(v.size) * sizeof(V), gpu::current_queue());
  }
};

} // namespace gpu_several

template <class V>
void apply_several_on_gpu(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors,
                          storage_order order) {
  const gpu::selected_device here(a.where().ordinal);
  several::in_groups<gpu_several::memory>(a, alpha, x, beta, y, vectors, order);
}
template void apply_several_on_gpu(const any_operator<double>&, double, cview<double>, double, view<double>, index_t,
                                   storage_order);
template void apply_several_on_gpu(const any_operator<float>&, float, cview<float>, float, view<float>, index_t,
                                   storage_order);

} // namespace furrow
