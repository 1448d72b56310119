// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/csr.hpp>
#include <furrow/space.hpp>
#include <furrow/vector_operations.hpp>

namespace furrow {

/// times * num / den, worked out by the pass that uses it from two slots of its space; 0 where den is 0.
struct ratio {
  slot num, den;
  double times = 1;
};

/// Where the vectors of a method live: host memory, with passes on all threads, or one GPU. A method that takes its
/// space as a template parameter is one text for both:
///
///   template <class Space> double step(Space& s, const typename Space::csr& a, ...) { ... rr / s.dot(p, q) ... }
///   host_space<double> cpu;
///   gpu_space<double> gpu; // throws `fault::device`, with the reason, where there is none
///
/// Both meet the concept `vector_space` (furrow/space.hpp) with its operations by name; passes of your own, `sweep`,
/// are for code inside the library, where kernels are compiled. For double and float. `read`, `fetch`, and what returns
/// a number wait for the GPU; all else is only enqueued there. Sums are made in double, in an order that depends on the
/// length alone: the same bits on every run with the same build and device. Throws `fault::usage` for vectors of
/// different lengths or in different memories, naming the operation.
template <class V, class Memory> class basic_space {
public:
  using value = V;
  using array = basic_array<V, Memory>;
  using csr = basic_csr<V, Memory>;
  using numbers = basic_array<double, Memory>;

  basic_space() : basic_space(usual()) {}
  /// On that device, which it selects for this thread, so that arrays and `csr` are made there.
  explicit basic_space(device where);
  device where() const { return where_; }

  array make(index_t n) { return array(n); }                ///< n elements of unspecified value
  array make(index_t n, V of) { return array(n, of); }      ///< of one value
  numbers make_slots(index_t n) { return numbers(n, 0.0); } ///< `slot{slots.data() + k}` is the k-th of them
  static slot at(numbers& slots, index_t k) { return {slots.data() + k}; }

  void copy(cview<V> x, view<V> y); ///< y <- x

  /// As the functions of furrow/vector_operations.hpp.
  void add(cview<V> v1, V alpha, cview<V> v2, view<V> sum) { furrow::add<V>(v1, alpha, v2, sum); }
  double dot(cview<V> x, cview<V> y) { return furrow::dot<V>(x, y); }
  double norm2(cview<V> x) { return furrow::norm2<V>(x); }
  void residual(const any_operator<V>& a, cview<V> b, cview<V> x, view<V> r) { furrow::residual<V>(a, b, x, r); }

  /// The same with scalars that stay beside the vectors: nobody waits. sum <- v1 + alpha v2; `sum` may be v1 or v2.
  void add(cview<V> v1, ratio alpha, cview<V> v2, view<V> sum);
  void dot(cview<V> x, cview<V> y, slot out); ///< out <- x . y

  double read(slot s);                             ///< the number in a slot; waits
  void fetch(cview<double> from, view<double> to); ///< slots to host memory; waits
  void put(cview<double> from, view<double> to);   ///< host memory to slots

private:
  static device usual() { return {std::is_same_v<Memory, gpu_memory> ? device::kind::gpu : device::kind::cpu, 0}; }

  device where_;
};

template <class V> using host_space = basic_space<V, host_memory>;
template <class V> using gpu_space = basic_space<V, gpu_memory>;
static_assert(vector_space<host_space<double>> && vector_space<gpu_space<float>>);

} // namespace furrow
