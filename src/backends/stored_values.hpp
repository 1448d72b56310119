// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <memory>
#include <vector>

namespace furrow {

/// What an operator is besides whose places of values follow from the pattern alone: other values need no conversion.
template <class V> class stored_values {
public:
  /// The places, those of padding too; none where they depend on values.
  virtual std::vector<view<V>> values() = 0;
  /// The same operator in memory of its own.
  virtual std::unique_ptr<any_operator<V>> copy() const = 0;

protected:
  ~stored_values() = default;
};

/// The places of a format.
template <class Format> auto value_arrays(Format& a) {
  if constexpr (requires { a.regular.val, a.rest.val; })
    return std::vector{as_view(a.regular.val), as_view(a.rest.val)};
  else if constexpr (requires { a.val, a.rest.val; }) return std::vector{as_view(a.val), as_view(a.rest.val)};
  else if constexpr (requires { a.dictionary; }) return std::vector<decltype(as_view(a.val))>{};
  else return std::vector{as_view(a.val)};
}

} // namespace furrow
