// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/parallel.hpp"
#include "cpu_transform.hpp"
#include "engine.hpp"
#include "scale.hpp"

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {
namespace {

/// x 2^e; exact unless the result overflows or is subnormal.
class power_of_two {
public:
  explicit power_of_two(int e) : e_(e), factor_(std::ldexp(1.0, std::clamp(e, -1000, 1000))) {}
  double operator()(double x) const { return std::abs(e_) <= 1000 ? x * factor_ : std::scalbn(x, e_); }

private:
  int e_;
  double factor_;
};

/// Two products share a transform back: one in the real, one in the imaginary part.
template <class V> class fft final : public engine_of<V> {
public:
  explicit fft(const product_task& task)
      : engine_of<V>(task), transform_(cpu_transform_length(points_needed(task.shape))), a_(points() + 1, 0.0),
        b_(points() + 1, 0.0), first_(2 * points()), second_(task.count > 1 ? 2 * points() : 0),
        result_(task.shape.nonzero()) {}

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    for (index_t s = 0; s < this->task.count; s += 2) {
      const bool two = s + 1 < this->task.count;
      const int e = forward(series_at(a, s), series_at(b, s), first_);
      const int f = two ? forward(series_at(a, s + 1), series_at(b, s + 1), second_) : 0;
      transform_.rows_pair(first_.data(), two ? second_.data() : nullptr);
      transform_.columns_back(first_.data());
      finish(false, e, c.data + s * c.stride);
      if (two) finish(true, f, c.data + (s + 1) * c.stride);
    }
  }

  void fix(const V* a) override {
    fixed_exponent_ = put(a, this->task.shape.na, a_);
    std::fill(b_.begin(), b_.end(), 0.0);
    transform_.columns(a_.data(), b_.data(), first_.data());
    fixed_.resize(points());
    transform_.values(first_.data(), fixed_.data());
  }

  void run_fixed(batch<const V> b, batch<V> c) override {
    require(!fixed_.empty(), "multiply_fixed before fix");
    const index_t nb = this->task.shape.nb;
    for (index_t s = 0; s < this->task.count; s += 2) {
      const bool two = s + 1 < this->task.count;
      const int e = put(series_at(b, s), nb, a_);
      const int f = two ? put(series_at(b, s + 1), nb, b_) : 0;
      if (!two) std::fill(b_.begin(), b_.end(), 0.0);
      transform_.columns(a_.data(), b_.data(), first_.data());
      transform_.rows_fixed(first_.data(), fixed_.data());
      transform_.columns_back(first_.data());
      finish(false, fixed_exponent_ + e, c.data + s * c.stride);
      if (two) finish(true, fixed_exponent_ + f, c.data + (s + 1) * c.stride);
    }
  }

  index_t transform() const override { return points(); }
  double memory_bytes() const override {
    return transform_.bytes() +
           8.0 * double(a_.size() + b_.size() + first_.size() + second_.size() + result_.size() + fixed_.size());
  }

private:
  index_t points() const { return transform_.points(); }

  /// to <- the primed series at norm 1 to 2, with zeros behind; returns the exponent that was taken out.
  int put(const V* a, index_t size, host_array<double>& to) const {
    squares norm;
    for (index_t i = 0; i < size; ++i) norm.add(double(a[i]));
    const int e = norm.exponent();
    const power_of_two scale(scale_of(e));
    for (index_t i = 0; i < size; ++i) to[i] = scale(double(a[i]));
    if (this->task.series == convention::plain) to[0] *= 2;
    std::fill(to.begin() + size, to.end(), 0.0);
    return e;
  }

  int forward(const V* a, const V* b, host_array<double>& z) {
    const int e = put(a, this->task.shape.na, a_) + put(b, this->task.shape.nb, b_);
    transform_.columns(a_.data(), b_.data(), z.data());
    return e;
  }

  void finish(bool imaginary, int exponent, V* c) {
    const product_shape& s = this->task.shape;
    const index_t n = s.nonzero();
    transform_.coefficients(first_.data(), imaginary, n, 1, result_.data());
    if (this->task.series == convention::plain) result_[0] /= 2;
    const power_of_two scale(exponent);
    for (index_t k = 0; k < n; ++k) c[k] = V(scale(result_[k]));
    std::fill(c + n, c + s.keep, V(0));
  }

  cpu_transform transform_;
  host_array<double> a_, b_, first_, second_, result_, fixed_;
  int fixed_exponent_ = 0;
};

} // namespace

template <class V> engine_pointer<V> cpu_fft(const product_task& task) { return std::make_unique<fft<V>>(task); }
template engine_pointer<double> cpu_fft<double>(const product_task&);
template engine_pointer<float> cpu_fft<float>(const product_task&);

} // namespace furrow::chebyshev
