// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace furrow::kit {

/// Where vectors under test live. The same checks run in both memories.
struct host_side {
  template <class T> using array = host_array<T>;
};
struct gpu_side {
  template <class T> using array = gpu_array<T>;
};

/// Whether two arrays hold the same bits.
template <class T> bool same_bits(view<const T> a, view<const T> b) {
  return a.size == b.size &&
         (a.empty() || std::memcmp(a.data, b.data, static_cast<std::size_t>(a.size) * sizeof(T)) == 0);
}

/// A vector between canaries. Canaries are NaNs of a pattern of their own: who reads them is found by the result, who
/// writes them by `take`. `shift` moves the first element off the alignment that arrays have by themselves.
template <class V, class Side> class guarded {
public:
  explicit guarded(const host_array<V>& values, index_t shift = 0)
      : n_(values.size()), first_(margin + shift), memory_(surrounded(values, first_)) {}

  /// n elements that nobody has written: NaN.
  static guarded unwritten(index_t n, index_t shift = 0) {
    return guarded(host_array<V>(n, std::numeric_limits<V>::quiet_NaN()), shift);
  }

  view<V> get() { return part(as_view(memory_), first_, n_); }

  /// The elements, and a failure where a canary was overwritten. Waits.
  host_array<V> take() const {
    const host_array<V> all(memory_);
    const index_t end = first_ + n_;
    EXPECT_TRUE(untouched(part(as_cview(all), 0, first_))) << "written before the first element";
    EXPECT_TRUE(untouched(part(as_cview(all), end, all.size() - end))) << "written beyond the last element";
    host_array<V> values(n_);
    std::copy(all.begin() + first_, all.begin() + end, values.begin());
    return values;
  }

private:
  static constexpr index_t margin = 64; ///< a multiple of the alignment for every V

  static host_array<V> canaries(index_t n) {
    host_array<V> all(n);
    std::memset(static_cast<void*>(all.data()), 0xff, all.byte_count());
    return all;
  }
  static bool untouched(cview<V> part) { return same_bits<V>(part, as_cview(canaries(part.size))); }
  static host_array<V> surrounded(const host_array<V>& values, index_t first) {
    host_array<V> all = canaries(first + values.size() + margin);
    std::copy(values.begin(), values.end(), all.begin() + first);
    return all;
  }

  index_t n_, first_;
  typename Side::template array<V> memory_;
};

} // namespace furrow::kit
