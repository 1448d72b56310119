// SPDX-License-Identifier: BSD-3-Clause
#include "vector_operations.hpp"

#include "backends/cpu/space.hpp"
#include "backends/turn.hpp"
#include "backends/unfused.hpp"
#include "check.hpp"
#include "crosses.hpp"
#include "memory_place.hpp"

#include <furrow/vector_operations.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

template <class V> struct operand {
  std::string_view name;
  cview<V> v;
};

/// Where all of them lie, once they have one length.
template <class V> device place_of_call(std::string_view call, const std::array<operand<V>, 3>& all) {
  for (const auto& one : all) {
    check(one.v.size == all[0].v.size, fault::usage, "{}: {} has {} elements and {} has {}: give vectors of one length",
          call, all[0].name, all[0].v.size, one.name, one.v.size);
    check(one.v.data || one.v.empty(), fault::usage, "{}: {} has no memory: give its elements", call, one.name);
  }
  check(all[0].v.size >= 0, fault::usage, "{}: {} has {} elements: give none or more", call, all[0].name,
        all[0].v.size);
  if (all[0].v.empty()) return {};
  const operand<V>* there = nullptr;
  for (const auto& one : all)
    if (const memory_place at = place_of(one.v.data); !at.host) there = &one;
  if (!there) return {};
  const device where{device::kind::gpu, place_of(there->v.data).ordinal};
  try {
    for (const auto& one : all) lie_on_gpu(where, there->name, there->v, one.name, one.v);
  } catch (const error& e) {
    throw error(e.kind, fmt::format("{}: {}", call, e.what()));
  }
  return where;
}

const char* where_text(bool gpu) { return gpu ? "a GPU" : "the host"; }

} // namespace

#if !FURROW_HAS_GPU // no vector lies on a GPU that this build knows
namespace unfused_on_gpu {
template <class V> void add(cview<V>, V, cview<V>, view<V>) { select_device({device::kind::gpu, 0}); }
template <class V> double dot(cview<V>, cview<V>) {
  select_device({device::kind::gpu, 0});
  return 0;
}
} // namespace unfused_on_gpu
#endif

template <class V> void add(cview<V> v1, std::type_identity_t<V> alpha, cview<V> v2, view<V> sum) {
  const device where = place_of_call<V>("add", {{{"v1", v1}, {"v2", v2}, {"the sum", as_cview(sum)}}});
  check(!crosses(v1, sum) && !crosses(v2, sum), fault::usage,
        "add: the sum shares part of a vector's memory: give it its own, or that of v1 or v2");
  const turn now(where);
  if (where.is_gpu()) return unfused_on_gpu::add(v1, alpha, v2, sum);
  cpu::space<V> space;
  unfused::add(space, v1, alpha, v2, sum);
}

template <class V> double dot(cview<V> x, cview<V> y) {
  const device where = place_of_call<V>("dot", {{{"x", x}, {"y", y}, {"y", y}}});
  const turn now(where);
  if (where.is_gpu()) return unfused_on_gpu::dot(x, y);
  cpu::space<V> space;
  return unfused::dot(space, x, y);
}

namespace {
/// |x| by way of elements near 1, for squares that leave the range of double; of a vector on a GPU in host memory. A
/// vector of zeros, NaNs or infinities has the norm that its squares say.
template <class V> double norm_beyond_squares(cview<V> x, double squares) {
  host_array<V> home(x.size);
  if (place_of(x.data).host) host_memory::copy(home.data(), x.data, home.byte_count());
  else copy_bytes(host_memory{}, home.data(), gpu_memory{}, x.data, home.byte_count());
  V largest = 0;
  for (const V v : home) largest = std::max(largest, std::abs(v));
  if (!(largest > 0) || !std::isfinite(largest)) return std::sqrt(squares);
  const int power = std::ilogb(largest);
  for (V& v : home) v = std::scalbn(v, -power);
  return std::scalbn(std::sqrt(dot<V>(as_cview(home), as_cview(home))), power);
}
} // namespace

template <class V> double norm2(cview<V> x) {
  const double squares = dot(x, x);
  const bool in_range = squares >= 0x1p-960 && squares <= std::numeric_limits<double>::max();
  return in_range || x.empty() ? std::sqrt(squares) : norm_beyond_squares(x, squares);
}

template <class V> void residual(const any_operator<V>& a, cview<V> b, cview<V> x, view<V> r) {
  const shape2 shape = a.shape();
  check(b.size == shape.rows && r.size == shape.rows && x.size == shape.cols, fault::usage,
        "residual: b has {} elements, x {} and r {} for a matrix of {} x {}: give b and r one a row, x one a column",
        b.size, x.size, r.size, shape.rows, shape.cols);
  check(!overlap(x, as_cview(r)), fault::usage, "residual: x and r share memory: give each its own");
  const bool on_gpu = place_of_call<V>("residual", {{{"b", b}, {"r", as_cview(r)}, {"r", as_cview(r)}}}).is_gpu();
  check(on_gpu == a.where().is_gpu() || r.empty(), fault::usage,
        "residual: the matrix lies on {} and b and r on {}: give vectors where the matrix is",
        where_text(a.where().is_gpu()), where_text(on_gpu));
  check(!crosses(b, r), fault::usage, "residual: r shares part of b's memory: give it its own, or that of b");
  const turn now(a.where());
  if (b.data != r.data && on_gpu) gpu_memory::copy(r.data, b.data, static_cast<std::size_t>(r.size) * sizeof(V));
  if (b.data != r.data && !on_gpu) cpu::space<V>().copy(b, r);
  a.apply(V(-1), x, V(1), r);
}

#define FURROW_OPERATIONS(V)                                                                                           \
  template void add(cview<V>, std::type_identity_t<V>, cview<V>, view<V>);                                             \
  template double dot(cview<V>, cview<V>);                                                                             \
  template double norm2(cview<V>);                                                                                     \
  template void residual(const any_operator<V>&, cview<V>, cview<V>, view<V>);
FURROW_OPERATIONS(double)
FURROW_OPERATIONS(float)
#undef FURROW_OPERATIONS

} // namespace furrow
