// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_transform.hpp"
#include "engine.hpp"
#include "scale.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace furrow::chebyshev {
namespace {

/// x 2^e; exact unless the result overflows or is subnormal.
class power_of_two {
public:
  explicit power_of_two(int e) : e_(e), factor_(std::ldexp(1.0, std::clamp(e, -1000, 1000))) {}
  template <class From, class To> void all(const From* from, index_t n, To* to) const {
    if (std::abs(e_) <= 1000) {
      cpu::widest([&]() FURROW_INLINE {
#pragma omp simd
        for (index_t i = 0; i < n; ++i) to[i] = To(double(from[i]) * factor_);
      });
    } else {
      for (index_t i = 0; i < n; ++i) to[i] = To(std::scalbn(double(from[i]), e_));
    }
  }

private:
  int e_;
  double factor_;
};

/// The exponent of the norm, as `squares` has it.
template <class V> int norm_exponent(const V* a, index_t size) {
  constexpr index_t width = 32; // sums side by side
  double sum[width] = {};
  cpu::widest([&]() FURROW_INLINE {
    for (index_t i = 0; i < size; i += width) {
      const index_t some = std::min(width, size - i);
#pragma omp simd
      for (index_t j = 0; j < some; ++j) sum[j] += double(a[i + j]) * double(a[i + j]);
    }
  });
  const double plain = std::accumulate(sum, sum + width, 0.0);
  if (plain > 0x1p-900 && plain < 0x1p1000) return std::ilogb(std::sqrt(plain));
  squares norm;
  for (index_t i = 0; i < size; ++i) norm.add(double(a[i]));
  return norm.exponent();
}

template <class V> class fft final : public engine_of<V> {
public:
  explicit fft(const product_task& task)
      : engine_of<V>(task), transform_(cpu_transform_length(points_needed(task.shape))), a_(points() + 1, 0.0),
        b_(points() + 1, 0.0), z_(2 * points()), w_(points() + 2), result_(points() + 1) {}

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    for (index_t s = 0; s < this->task.count; ++s) {
      const int e = put(series_at(a, s), this->task.shape.na, a_) + put(series_at(b, s), this->task.shape.nb, b_);
      transform_.columns(a_.data(), b_.data(), z_.data());
      transform_.rows_pair(z_.data());
      finish(0, e, c.data + s * c.stride);
    }
  }

  void fix(const V* a) override {
    fixed_exponent_ = put(a, this->task.shape.na, a_);
    std::fill(b_.begin(), b_.end(), 0.0);
    transform_.columns(a_.data(), b_.data(), z_.data());
    std::fill(a_.begin(), a_.end(), 0.0);
    fixed_.resize(points());
    transform_.values(z_.data(), fixed_.data());
  }

  void run_fixed(batch<const V> b, batch<V> c) override {
    require(!fixed_.empty(), "multiply_fixed before fix");
    const index_t nb = this->task.shape.nb;
    for (index_t s = 0; s < this->task.count; s += 2) { // two products share a transform forth
      const bool two = s + 1 < this->task.count;
      const int e = put(series_at(b, s), nb, a_);
      const int f = two ? put(series_at(b, s + 1), nb, b_) : 0;
      transform_.columns(a_.data(), b_.data(), z_.data());
      transform_.rows_fixed(z_.data(), fixed_.data());
      finish(0, fixed_exponent_ + e, c.data + s * c.stride);
      if (two) finish(1, fixed_exponent_ + f, c.data + (s + 1) * c.stride);
    }
  }

  index_t transform() const override { return points(); }
  double memory_bytes() const override {
    return transform_.bytes() +
           8.0 * double(a_.size() + b_.size() + z_.size() + w_.size() + result_.size() + fixed_.size());
  }

private:
  index_t points() const { return transform_.points(); }

  /// to <- the primed series at norm 1 to 2, with zeros behind; returns the exponent that was taken out.
  int put(const V* a, index_t size, host_array<double>& to) const {
    const int e = norm_exponent(a, size);
    const power_of_two scale(scale_of(e));
    scale.all(a, size, to.data());
    if (this->task.series == convention::plain) to[0] *= 2;
    std::fill(to.begin() + size, to.end(), 0.0);
    return e;
  }

  void finish(int place, int exponent, V* c) {
    const product_shape& s = this->task.shape;
    const index_t n = s.nonzero();
    transform_.columns_back(z_.data(), place, w_.data());
    transform_.coefficients(w_.data(), result_.data());
    if (this->task.series == convention::plain) result_[0] /= 2;
    power_of_two(exponent).all(result_.data(), n, c);
    std::fill(c + n, c + s.keep, V(0));
  }

  cpu_transform transform_;
  host_array<double> a_, b_, z_, w_, result_, fixed_;
  int fixed_exponent_ = 0;
};

} // namespace

template <class V> engine_pointer<V> cpu_fft(const product_task& task) { return std::make_unique<fft<V>>(task); }
template engine_pointer<double> cpu_fft<double>(const product_task&);
template engine_pointer<float> cpu_fft<float>(const product_task&);

} // namespace furrow::chebyshev
