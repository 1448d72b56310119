// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "cpu_transform.hpp"
#include "engine.hpp"
#include "scale.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

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

/// What one product works in.
struct fft_room {
  explicit fft_room(const cpu_transform& t) : a(t.points()), b(t.points()), z(2 * t.points()), transforms(t.room()) {}
  double bytes() const { return double(2 * a.byte_count() + z.byte_count() + transforms.byte_count()); }
  host_array<double> a, b; ///< coefficients of the factors, then values of products
  host_array<double> z;    ///< values of the factors, then coefficients of a product
  host_array<double> transforms;
};

/// A room that outlives a product, as fresh pages cost as much as its transforms: the last four of up to 4 MiB are kept
/// for products of their length.
class kept_room {
public:
  explicit kept_room(const cpu_transform& t) {
    {
      const std::scoped_lock lock(kept().one_at_a_time);
      auto& rooms = kept().rooms;
      const auto found = std::ranges::find_if(rooms, [&](const auto& r) { return r->a.size() == t.points(); });
      if (found != rooms.end()) {
        room_ = std::move(*found);
        rooms.erase(found);
      }
    }
    if (!room_) room_ = std::make_unique<fft_room>(t);
  }
  ~kept_room() {
    if (room_->bytes() > 4 << 20) return;
    const std::scoped_lock lock(kept().one_at_a_time);
    auto& rooms = kept().rooms;
    if (rooms.size() == most) rooms.erase(rooms.begin());
    rooms.push_back(std::move(room_));
  }
  kept_room(const kept_room&) = delete;
  kept_room& operator=(const kept_room&) = delete;
  fft_room& operator*() const { return *room_; }

private:
  static constexpr std::size_t most = 4;
  struct store {
    store() { rooms.reserve(most); } // so that nothing throws where rooms are given back
    std::mutex one_at_a_time;
    std::vector<std::unique_ptr<fft_room>> rooms;
  };
  static store& kept() {
    static auto& one = *new store; // never destroyed: plans of static storage may outlive everything else
    return one;
  }

  std::unique_ptr<fft_room> room_;
};

template <class V> class fft final : public engine_of<V> {
public:
  explicit fft(const product_task& task)
      : engine_of<V>(task), transform_(cpu_transform_of(cpu_transform_length(points_needed(task.shape)))),
        room_(*transform_) {}

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    each(this->task.count, [&](index_t s, fft_room& r) {
      const int e = put(series_at(a, s), this->task.shape.na, r.a) + put(series_at(b, s), this->task.shape.nb, r.b);
      transform_->multiply(values(r), r.a.data());
      finish(r, r.a, e, c.data + s * c.stride);
    });
  }

  void fix(const V* a) override {
    fft_room& r = *room_;
    fixed_exponent_ = put(a, this->task.shape.na, r.a);
    std::ranges::fill(r.b, 0.0);
    fixed_.resize(points());
    const double* const v = values(r);
    for (index_t m = 0; m < points(); ++m) fixed_[m] = v[2 * m];
  }

  void run_fixed(batch<const V> b, batch<V> c) override {
    check(!fixed_.empty(), fault::usage, "multiply_fixed has no factor yet: call fix before it");
    const index_t nb = this->task.shape.nb, count = this->task.count;
    each((count + 1) / 2, [&](index_t pair, fft_room& r) { // two products share a transform forth
      const index_t s = 2 * pair;
      const bool two = s + 1 < count;
      const int e = put(series_at(b, s), nb, r.a);
      const int f = put(series_at(b, two ? s + 1 : s), nb, r.b);
      transform_->multiply(values(r), fixed_.data(), r.a.data(), r.b.data());
      finish(r, r.a, fixed_exponent_ + e, c.data + s * c.stride);
      if (two) finish(r, r.b, fixed_exponent_ + f, c.data + (s + 1) * c.stride);
    });
  }

  index_t transform() const override { return points(); }
  double memory_bytes() const override { return transform_->bytes() + (*room_).bytes() + 8.0 * double(fixed_.size()); }

private:
  index_t points() const { return transform_->points(); }

  /// body(k, room) for k < count: short products share the threads one by one, long ones part by part.
  template <class F> void each(index_t count, F body) {
    if (count == 1 || points() > fourier_transform::alone) {
      for (index_t k = 0; k < count; ++k) body(k, *room_);
      return;
    }
    cpu::for_each_range(count, 8192 / points() + 1, [&](index_t begin, index_t end) { // points that are worth a thread
      const kept_room kept(*transform_);
      fft_room& own = *kept;
      for (index_t k = begin; k < end; ++k) body(k, own);
    });
  }

  /// to <- the primed series at norm 1 to 2, with zeros behind; returns the exponent that was taken out.
  int put(const V* a, index_t size, host_array<double>& to) const {
    const int e = norm_exponent(a, size);
    const power_of_two scale(scale_of(e));
    scale.all(a, size, to.data());
    if (this->task.series == convention::plain) to[0] *= 2;
    std::fill(to.begin() + size, to.end(), 0.0);
    return e;
  }

  const double* values(fft_room& r) const {
    return transform_->values(r.a.data(), r.b.data(), r.z.data(), r.transforms.data());
  }

  /// c <- the product of these values.
  void finish(fft_room& r, host_array<double>& product, int exponent, V* c) const {
    const product_shape& s = this->task.shape;
    const index_t n = s.nonzero();
    transform_->coefficients(product.data(), r.transforms.data(), r.z.data());
    if (this->task.series == convention::plain) r.z[0] /= 2;
    power_of_two(exponent).all(r.z.data(), n, c);
    std::fill(c + n, c + s.keep, V(0));
  }

  std::shared_ptr<const cpu_transform> transform_;
  kept_room room_;
  host_array<double> fixed_;
  int fixed_exponent_ = 0;
};

} // namespace

template <class V> engine_pointer<V> cpu_fft(const product_task& task) { return std::make_unique<fft<V>>(task); }
template engine_pointer<double> cpu_fft<double>(const product_task&);
template engine_pointer<float> cpu_fft<float>(const product_task&);

} // namespace furrow::chebyshev
