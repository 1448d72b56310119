// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"
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

  few_values() { key_[place(0)] = 1; }

  /// False once there are more than `most`; what the set holds is then of no use.
  bool add(V value) {
    const auto b = std::bit_cast<bits>(value);
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
  /// The same for several, most of which it has: these are found without a branch.
  FURROW_INLINE bool add(const V* values, index_t count) {
    constexpr index_t together = 64;
    for (index_t begin = 0; begin < count; begin += together) {
      const index_t end = std::min(count, begin + together);
      bits others = 0;
      for (index_t k = begin; k < end; ++k) {
        const auto b = std::bit_cast<bits>(values[k]);
        others |= key_[place(b)] ^ b;
      }
      for (index_t k = begin; others && k < end; ++k)
        if (!add(values[k])) return false;
    }
    return true;
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

  std::array<bits, size> key_{}; ///< where none is, the bits of a value that has another place
  std::array<bool, size> used_{};
  int count_ = 0;
};

/// The values of pieces that were looked at one by one, together.
template <class V> class values_of_pieces {
public:
  explicit values_of_pieces(index_t pieces) : found_(static_cast<std::size_t>(pieces)) {}
  /// A part of one piece, whose set it is; each piece on any thread. Nothing is left to do once anybody has too many.
  FURROW_INLINE void look(few_values<V>& set, const V* values, index_t count) {
    if (!many_.load(std::memory_order_relaxed) && !set.add(values, count)) many_.store(true, std::memory_order_relaxed);
  }
  void end(index_t piece, const few_values<V>& set) { found_[static_cast<std::size_t>(piece)] = set.sorted(); }
  /// All of them in the order of their bits, or nothing where there are more than 256.
  std::vector<V> all() const {
    few_values<V> set;
    for (const auto& some : found_)
      for (const V v : some)
        if (!set.add(v)) return {};
    return many_ ? std::vector<V>{} : set.sorted();
  }

private:
  std::vector<std::vector<V>> found_;
  std::atomic<bool> many_ = false;
};

/// The distinct values in the order of their bits, or nothing where there are more than 256. Parallel; one pass, which
/// ends early where there are too many.
template <class V> std::vector<V> distinct_values(cview<V> values) {
  constexpr index_t piece = 1 << 16;
  const index_t pieces = (values.size + piece - 1) / piece;
  values_of_pieces<V> found(pieces);
  cpu::for_each_task(pieces, [&](index_t p) {
    const index_t first = p * piece;
    few_values<V> set;
    cpu::widest([&]() FURROW_INLINE { found.look(set, values.data + first, std::min(piece, values.size - first)); });
    found.end(p, set);
  });
  return found.all();
}

/// How many, as `stats` tell it: 257 stands for more than 256.
template <class V> index_t count_distinct(const std::vector<V>& found, index_t values) {
  const auto count = std::ssize(found);
  return count || values == 0 ? count : few_values<V>::most + 1;
}
template <class V> index_t count_distinct(cview<V> values) {
  return count_distinct(distinct_values(values), values.size);
}

} // namespace furrow
