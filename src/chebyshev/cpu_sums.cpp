// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "engine.hpp"
#include "overflow.hpp"

#include <algorithm>
#include <cstring>

namespace furrow::chebyshev {
namespace {

/// Coefficients that are worked out at once: eight vectors of 64 bytes, which stay in registers.
constexpr index_t pack_bytes = 64, packs = 8;
template <class V> constexpr index_t pack_size = pack_bytes / index_t(sizeof(V));
template <class V> constexpr index_t tile_size = packs* pack_size<V>;
/// Tiles of a task, and terms that they share while these are in the first cache. Sums of so many terms are added up: a
/// long sum in single precision would drift.
constexpr index_t tiles_of_task = 8, block_of_terms = 512;
template <class V> using pack [[gnu::vector_size(pack_bytes), gnu::may_alias]] = V;

/// 2 c_k for the tile that begins at k: out[r] = sum over i in [begin, end) of p[i] q[k + r - i], in this order.
template <class V> void sum_tile(const V* p, const V* q, index_range range, index_t k, V* out) {
  cpu::widest([&]() FURROW_INLINE {
    pack<V> sum[packs] = {};
    for (index_t i = range.begin; i < range.end; ++i) {
      const V* const from = q + (k - i);
      const V scale = p[i];
      for (index_t r = 0; r < packs; ++r) {
        pack<V> next;
        std::memcpy(&next, from + r * pack_size<V>, pack_bytes);
        sum[r] += scale * next;
      }
    }
    std::memcpy(out, sum, sizeof sum);
  });
}

/// The even extension with `margin` zeros at both ends; at() is coefficient 0.
template <class V> class extension {
public:
  extension(index_t size, index_t margin) : size_(size), margin_(margin), room_(2 * (size + margin), V(0)) {}
  void fill(const factor<V>& a) {
    for (index_t i = 1 - size_; i < size_; ++i) room_[margin_ + size_ - 1 + i] = a(i);
  }
  const V* at() const { return room_.data() + margin_ + size_ - 1; }
  double bytes() const { return double(room_.byte_count()); }

private:
  index_t size_, margin_;
  host_array<V> room_;
};

/// The sums, a tile of coefficients a task: the order of a sum depends on the lengths alone.
template <class V> class direct_sums final : public sums_engine<V, host_array<V>> {
public:
  explicit direct_sums(const product_task& task)
      : sums_engine<V, host_array<V>>(task), p_(task.shape.na, 0), q_(task.shape.nb, tile_size<V>) {}

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    if (!short_products()) return some(0, this->task.count, a, b, c, p_, q_);
    const product_shape& shape = this->task.shape;
    const auto grain = index_t(large_work / (double(shape.na) * double(shape.nb))) + 1;
    cpu::for_each_range(this->task.count, grain, [&](index_t first, index_t last) {
      extension<V> p(shape.na, 0), q(shape.nb, tile_size<V>);
      some(first, last, a, b, c, p, q);
    });
  }
  double memory_bytes() const override { return p_.bytes() + q_.bytes() + double(this->fixed_.byte_count()); }

private:
  /// Short products share the threads one by one, long ones task by task.
  static constexpr double large_work = 1e5;
  bool short_products() const { return double(this->task.shape.na) * double(this->task.shape.nb) <= large_work; }

  void some(index_t first, index_t last, batch<const V> a, batch<const V> b, batch<V> c, extension<V>& p,
            extension<V>& q) const {
    const product_task& t = this->task;
    for (index_t s = first; s < last; ++s) {
      if (s == first || a.count > 1) p.fill(factor_of(series_at(a, s), t.shape.na, t.series));
      if (s == first || b.count > 1) q.fill(factor_of(series_at(b, s), t.shape.nb, t.series));
      one(p, q, c.data + s * c.stride);
      mend_overflow<V>({series_at(a, s), t.shape.na}, {series_at(b, s), t.shape.nb}, t.series,
                       {c.data + s * c.stride, t.shape.keep});
    }
  }

  void one(const extension<V>& p, const extension<V>& q, V* c) const {
    const product_task& t = this->task;
    const index_t n = t.shape.nonzero(), size = tiles_of_task * tile_size<V>, tasks = (n + size - 1) / size;
    std::fill(c + n, c + t.shape.keep, V(0));
    const auto task = [&](index_t which) {
      const index_t first = which * size, count = std::min(n - first, size);
      V total[tiles_of_task * tile_size<V>] = {};
      const index_range all = terms(t.shape.na, t.shape.nb, first, count);
      for (index_t i = all.begin; i < all.end; i += block_of_terms)
        for (index_t k = 0; k < count; k += tile_size<V>) {
          const index_range own = terms(t.shape.na, t.shape.nb, first + k, std::min(count - k, tile_size<V>));
          const index_range both{std::max(i, own.begin), std::min(i + block_of_terms, own.end)};
          if (both.begin >= both.end) continue;
          V sum[tile_size<V>];
          sum_tile(p.at(), q.at(), both, first + k, sum);
          for (index_t r = 0; r < tile_size<V>; ++r) total[k + r] += sum[r];
        }
      for (index_t k = 0; k < count; ++k) c[first + k] = coefficient_of(total[k], first + k, t.series);
    };
    if (!short_products()) return cpu::for_each_task(tasks, task);
    for (index_t k = 0; k < tasks; ++k) task(k);
  }

  extension<V> p_, q_;
};

} // namespace

template <class V> engine_pointer<V> cpu_sums(const product_task& task) {
  return std::make_unique<direct_sums<V>>(task);
}
template engine_pointer<double> cpu_sums<double>(const product_task&);
template engine_pointer<float> cpu_sums<float>(const product_task&);

} // namespace furrow::chebyshev
