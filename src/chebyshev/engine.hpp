// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "lengths.hpp"

namespace furrow::chebyshev {

/// One product again and again, by one algorithm on one device.
struct product_task {
  product_shape shape;
  index_t count = 1;
  convention series = convention::plain;
  algorithm how = algorithm::direct;
  int block = 0; ///< threads a block of a classic kernel, 0 for as many as usual
};

template <class V> struct product_plan<V>::engine {
  const product_task task;

  explicit engine(const product_task& task) : task(task) {}
  engine(const engine&) = delete;
  virtual ~engine() = default;
  virtual void run(batch<const V> a, batch<const V> b, batch<V> c) = 0;
  virtual void fix(const V* a) = 0;
  virtual void run_fixed(batch<const V> b, batch<V> c) = 0;
  virtual index_t transform() const { return 0; }
  virtual double memory_bytes() const = 0;
};
template <class V> using engine_of = typename product_plan<V>::engine;
template <class V> using engine_pointer = std::unique_ptr<engine_of<V>>;

/// A fixed factor is kept as it is; Array: where.
template <class V, class Array> struct sums_engine : engine_of<V> {
  explicit sums_engine(const product_task& task) : engine_of<V>(task) {}
  void fix(const V* a) final {
    fixed_.resize(this->task.shape.na);
    using memory = std::conditional_t<std::is_same_v<Array, host_array<V>>, host_memory, gpu_memory>;
    memory::copy(fixed_.data(), a, fixed_.byte_count());
  }
  void run_fixed(batch<const V> b, batch<V> c) final {
    check(!fixed_.empty(), fault::usage, "multiply_fixed has no factor yet: call fix before it");
    this->run({fixed_.data()}, b, c);
  }

protected:
  Array fixed_;
};

template <class V> engine_pointer<V> cpu_sums(const product_task& task);
template <class V> engine_pointer<V> cpu_fft(const product_task& task);
#if FURROW_HAS_GPU
template <class V> engine_pointer<V> gpu_classic(const product_task& task); ///< those of `classic_algorithms`
template <class V> engine_pointer<V> gpu_sums(const product_task& task);
template <class V> engine_pointer<V> gpu_fft(const product_task& task);
#endif

/// The algorithm that `automatic` stands for.
algorithm choose(const product_shape& shape, index_t count, accuracy wanted, device where, bool single);

} // namespace furrow::chebyshev
