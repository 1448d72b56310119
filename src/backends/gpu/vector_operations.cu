// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector_operations.hpp"

#include "backends/gpu/primitives.hpp"
#include "backends/unfused.hpp"

namespace furrow {
namespace unfused_on_gpu {

template <class V> void add(cview<V> v1, V alpha, cview<V> v2, view<V> sum) {
  gpu::space<V> space;
  space.sweep(sum.size, pass(unfused::add_step<V>{alpha}, out(sum), in(v1), in(v2)));
}
template <class V> double dot(cview<V> x, cview<V> y) {
  gpu::space<V> space;
  return unfused::dot(space, x, y);
}

template void add(cview<double>, double, cview<double>, view<double>);
template void add(cview<float>, float, cview<float>, view<float>);
template double dot(cview<double>, cview<double>);
template double dot(cview<float>, cview<float>);

} // namespace unfused_on_gpu

namespace {

template <class T> struct fill_with {
  T* to;
  T value;
  FURROW_HD void operator()(index_t i) const { to[i] = value; }
};
template <class T> void fill(void* data, const void* value, index_t count) {
  T one;
  __builtin_memcpy(&one, value, sizeof one);
  gpu::for_each(count, fill_with<T>{static_cast<T*>(data), one});
}

} // namespace

void fill_elements(gpu_memory, void* data, const void* value, std::size_t size, index_t count) {
  if (size == 1) return fill<unsigned char>(data, value, count);
  if (size == 2) return fill<unsigned short>(data, value, count);
  if (size == 4) return fill<unsigned>(data, value, count);
  if (size == 8) return fill<unsigned long long>(data, value, count);
  if (size == 16) return fill<ulonglong2>(data, value, count);
  host_array<char> home(count * static_cast<index_t>(size));
  for (index_t i = 0; i < count; ++i) host_memory::copy(home.data() + i * static_cast<index_t>(size), value, size);
  copy_bytes(gpu_memory{}, data, host_memory{}, home.data(), home.byte_count());
}

} // namespace furrow
