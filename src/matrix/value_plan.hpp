// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/stored_values.hpp"

#include <furrow/formats.hpp>
#include <furrow/sparse.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace furrow {

/// What is wrong where a caller wrote into the arrays of rows.
inline constexpr const char* changed_pattern =
    "the rows have changed since the matrix was made: another pattern needs a new matrix";

/// Where the values of rows go in the arrays of a format, so that other values in the same places need no conversion.
/// Found by storing the numbers 1, 2, ... in place of values: the format itself says where they come to lie. Takes four
/// bytes a stored place, none where the format keeps the order of the rows. In single precision a matrix of more than
/// 2^20 entries is stored twice, for the digits of its numbers.
template <class V> class value_plan {
public:
  /// rows: those that a matrix was made from. laid_out: where the plan is known, the matrix that it was found with,
  /// whose values `put` is to bring: one that was stored with zeros among its values may lie otherwise.
  template <class I>
  value_plan(const csr_arrays<V, I>& rows, const choice& stored_as, device where,
             std::unique_ptr<any_operator<V>>& laid_out);

  /// Whether rows are sorted and each place comes once.
  bool ordered() const { return ordered_; }
  /// Whether the places follow from the pattern: otherwise `put` cannot be called.
  bool known() const { return known_; }
  /// One pass over the stored places. `into`: what was laid out with the plan, or a copy of it.
  void put(cview<V> values, stored_values<V>& into) const;

private:
  bool ordered_ = false, known_ = false;
  bool in_order_ = false; ///< one array, in the order of the rows: it needs no numbers
  /// For each array, by place: the number of its value, counted from 1; 0: padding.
  std::vector<host_array<std::uint32_t>> from_;
};

} // namespace furrow
