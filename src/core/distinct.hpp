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

/// A hash table of bits, of 2^10 places. In one where nothing is, there are bits that have another place.
template <class B> struct bits_table {
  static constexpr int log_size = 10;
  static constexpr std::size_t size = std::size_t(1) << log_size;
  static std::size_t place(B b) {
    return static_cast<std::size_t>(b * std::uint64_t(0x9e3779b97f4a7c15) >> (64 - log_size));
  }
  std::array<B, size> key{};
  std::array<B, 256> list{}; ///< all of them as they were added
  int count = 0;
};

/// Bit k: values[k], of at most 64, is not in the table, or not at the place of its hash.
template <class B> std::uint64_t absent(const bits_table<B>& table, const B* values, index_t count);

/// A set of at most 256 values, told apart by their bits: 0 and -0 are two, a NaN equals itself.
template <class V> class few_values {
public:
  using bits = bits_of<V>;
  static constexpr int most = 256;

  few_values() { table_.key[table::place(0)] = 1; }

  /// False once there are more than `most`; what the set holds is then of no use.
  bool add(V value) {
    const auto b = std::bit_cast<bits>(value);
    for (std::size_t at = table::place(b);; at = (at + 1) % table::size) {
      if (used_[at] && table_.key[at] == b) return true;
      if (used_[at]) continue;
      if (table_.count == most) return false;
      used_[at] = true;
      table_.key[at] = b;
      table_.list[static_cast<std::size_t>(table_.count++)] = b;
      return true;
    }
  }
  /// The same for several, most of which it has: these are found without a branch.
  bool add(const V* values, index_t count) {
    constexpr index_t together = 64;
    for (index_t begin = 0; begin < count; begin += together) {
      const auto* const some = reinterpret_cast<const bits*>(values + begin);
      for (auto left = absent(table_, some, std::min(together, count - begin)); left; left &= left - 1)
        if (!add(values[begin + std::countr_zero(left)])) return false;
    }
    return true;
  }
  int count() const { return table_.count; }
  /// The values in any order.
  std::vector<V> values() const {
    std::vector<V> all(static_cast<std::size_t>(table_.count));
    std::transform(table_.list.begin(), table_.list.begin() + table_.count, all.begin(),
                   [](bits b) { return std::bit_cast<V>(b); });
    return all;
  }
  /// In the order of their bits.
  std::vector<V> sorted() const {
    std::vector<V> all = values();
    std::ranges::sort(all, {}, [](V v) { return std::bit_cast<bits>(v); });
    return all;
  }

private:
  using table = bits_table<bits>;
  static_assert(std::tuple_size_v<decltype(table::list)> == most);

  table table_;
  std::array<bool, table::size> used_{};
};

/// The values of pieces that were looked at one by one, together.
template <class V> class values_of_pieces {
public:
  explicit values_of_pieces(index_t pieces) : found_(static_cast<std::size_t>(pieces)) {}
  /// A part of one piece, whose set it is; each piece on any thread. Nothing is left to do once anybody has too many.
  void look(few_values<V>& set, const V* values, index_t count) {
    if (!many_.load(std::memory_order_relaxed) && !set.add(values, count)) many_.store(true, std::memory_order_relaxed);
  }
  void end(index_t piece, const few_values<V>& set) {
    if (!many_.load(std::memory_order_relaxed)) found_[static_cast<std::size_t>(piece)] = set.values();
  }
  /// All of them in the order of their bits, or nothing where there are more than 256.
  std::vector<V> all() const {
    if (many_) return {};
    few_values<V> set;
    for (const auto& some : found_)
      for (const V v : some)
        if (!set.add(v)) return {};
    return set.sorted();
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
    found.look(set, values.data + first, std::min(piece, values.size - first));
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
