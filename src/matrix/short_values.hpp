// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/value.hpp>
#include <furrow/view.hpp>

#include <array>
#include <cstdint>

namespace furrow {

/// How values of a matrix travel in fewer bytes without loss: as numbers of a byte where they are one of four, as on
/// grids and in graphs, in single precision where that keeps every bit of them. A look at some of them proposes;
/// whoever writes them finds the one that does not fit. Values are told apart by their bits: 0 and -0 are two, a NaN
/// equals itself.
template <class V> class short_values {
public:
  enum class form { whole, numbers, single };
  /// Of values that have numbers. A table of 64 by hashes takes 2 to 3 ns a value of one thread, which from memory to
  /// memory copies one in 0.3: these are compared with all four in 0.5.
  static constexpr std::size_t most = 4;

  /// Looks at 4096 of them. `whole` where there are fewer than 2^17, whose bytes take less time than a kernel.
  explicit short_values(cview<V> values);

  form proposed() const { return form_; }
  /// Number k stands for the k-th of these.
  const std::array<V, most>& table() const { return table_; }
  /// False where one of them has no number.
  bool write_numbers(const V* from, index_t count, std::uint8_t* to) const;
  /// False where one of them loses a bit.
  static bool write_single(const V* from, index_t count, float* to);

private:
  form form_ = form::whole;
  std::array<V, most> table_{};
};

} // namespace furrow
