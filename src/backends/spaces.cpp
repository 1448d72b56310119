// SPDX-License-Identifier: BSD-3-Clause
#include "spaces.hpp"
#include "cpu/space.hpp"

namespace furrow {

template <class V> struct space_behind<V, host_memory> { using type = cpu::space<V>; };

template class basic_space<double, host_memory>;
template class basic_space<float, host_memory>;

#if !FURROW_HAS_GPU
namespace {

/// What a build without a GPU part has in place of one: the sentence that says so.
struct absent_space {
  absent_space() { select_device({device::kind::gpu, 0}); }
  template <class... A> void copy(A...) {}
  template <class... A> void sweep(A...) {}
  template <class... A> void dot(A...) {}
  template <class... A> void fetch(A...) {}
  template <class... A> void put(A...) {}
  double read(slot) { return 0; }
};

} // namespace

template <class V> struct space_behind<V, gpu_memory> { using type = absent_space; };

template class basic_space<double, gpu_memory>;
template class basic_space<float, gpu_memory>;
#endif

} // namespace furrow
