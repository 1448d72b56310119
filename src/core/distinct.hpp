// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>
#include <furrow/value.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace furrow {

/// A set of at most 256 values, told apart by their bits: 0 and -0 are two, a NaN equals itself.
template <class V> class few_values {
public:
  using bits = bits_of<V>;
  static constexpr int most = 256;

  /// False once there are more than `most`; what the set holds is then of no use.
  bool add(V value) {
    const auto b = std::bit_cast<bits>(value);
    if (count_ && b == last_) return true;
    last_ = b;
    for (std::size_t at = place(b);; at = (at + 1) % size) {
      if (used_[at] && key_[at] == b) return true;
      if (used_[at]) continue;
      if (count_ == most) return false;
      used_[at] = true;
      key_[at] = b;
      ++count_;
      return true;
    }
  }
  int count() const { return count_; }
  /// The values, in the order of their bits.
  std::vector<V> sorted() const {
    std::vector<bits> all;
    for (std::size_t at = 0; at < size; ++at)
      if (used_[at]) all.push_back(key_[at]);
    std::sort(all.begin(), all.end());
    std::vector<V> values(all.size());
    std::transform(all.begin(), all.end(), values.begin(), [](bits b) { return std::bit_cast<V>(b); });
    return values;
  }

private:
  static constexpr std::size_t size = 1024;
  static std::size_t place(bits b) { return static_cast<std::size_t>(b * std::uint64_t(0x9e3779b97f4a7c15) >> 54); }

  std::array<bits, size> key_;
  std::array<bool, size> used_{};
  bits last_ = 0;
  int count_ = 0;
};

/// The distinct values in the order of their bits, or nothing where there are more than 256. Parallel; one pass, which
/// ends early where there are too many.
template <class V> std::vector<V> distinct_values(cview<V> values) {
  constexpr index_t piece = 1 << 16;
  const index_t pieces = (values.size + piece - 1) / piece;
  std::vector<std::vector<V>> found(static_cast<std::size_t>(pieces));
  std::atomic<bool> many = false;
  cpu::for_each_task(pieces, [&](index_t p) {
    if (many.load(std::memory_order_relaxed)) return;
    few_values<V> set;
    for (index_t k = p * piece; k < std::min(values.size, (p + 1) * piece); ++k)
      if (!set.add(values[k])) return many.store(true, std::memory_order_relaxed);
    found[static_cast<std::size_t>(p)] = set.sorted();
  });
  few_values<V> all;
  for (const auto& some : found)
    for (const V v : some)
      if (!all.add(v)) return {};
  return many ? std::vector<V>{} : all.sorted();
}

/// How many, as `stats` tell it: 257 stands for more than 256.
template <class V> index_t count_distinct(cview<V> values) {
  const auto count = static_cast<index_t>(distinct_values(values).size());
  return count || values.empty() ? count : few_values<V>::most + 1;
}

} // namespace furrow
