// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cut.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

/// A way is how the GPU works out some products: a struct with
///
///   name, about   for people and for `gemv_options::kernel`
///   one_vector    it has no kernel for several
///   order         when it is tried, the least first
///   fits          its plan for a problem and a number of multiprocessors, a `cut` and the numbers of its own; nothing
///                 where another way serves it better or it cannot: on the host
///
/// in the file of along/ or across/ that has its name, and beside it for nvcc `kernel_of(way, plan)`: which kernel
/// runs a plan, and by how many threads. The first that fits runs.
namespace furrow::dense {

template <class T> struct call;
template <class S> struct gpu_scratch;

/// A product as the ways see it.
struct gemv_shape {
  index_t lines = 0, length = 0, leading = 0; ///< runs of `length` elements, `leading` apart
  index_t batch = 1;                          ///< problems of that shape
  int size = 8, value = 8;                    ///< bytes of an element of A; of x and y
  int vectors = 1;
  bool a_aligned = true; ///< every matrix begins at a multiple of 16 bytes
  bool y_aligned = true; ///< there is one y, of neighbours, at such a place
  bool x_aligned = true; ///< and every vector x, whose elements are neighbours

  constexpr index_t per_load() const { return 16 / size; }
  constexpr index_t loads() const { return up(length * size, 16); } ///< of 16 bytes that a line takes
  /// Every line is whole loads.
  constexpr bool even() const { return a_aligned && length % per_load() == 0 && leading % per_load() == 0; }
  /// One vector, and A and x are read in whole loads.
  constexpr bool plain() const { return vectors == 1 && even() && x_aligned; }
};

/// A kernel, and what it is launched with beside its plan.
template <class T, class S, class Plan> struct gpu_kernel {
  void (*run)(call<T>, Plan, gpu_scratch<S>) = nullptr;
  int threads = gpu_threads;
  std::size_t shared_bytes = 0;
};

} // namespace furrow::dense
