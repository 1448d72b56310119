// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

namespace furrow::lu {

/// Entries of complete factors L and U, the diagonal once, and the bytes that they take; 0: not known.
struct factor_size {
  double expected = 0, expected_bytes = 0; ///< from the pattern, before anything is factored
  bool is_bound = false;                   ///< whether the pivots decide how many of these there are
  double entries = 0, bytes = 0;           ///< that were made
  index_t raised = 0;                      ///< pivots that were made larger, where nothing else tells of the condition
};

/// What a preconditioner is besides that holds complete factors, or others around them.
struct tells_factor_size {
  virtual factor_size size_of_factors() const = 0;

protected:
  ~tells_factor_size() = default;
};

template <class V> factor_size factor_size_of(const any_preconditioner<V>& m) {
  const auto* const tells = dynamic_cast<const tells_factor_size*>(&m);
  return tells ? tells->size_of_factors() : factor_size{};
}

} // namespace furrow::lu
