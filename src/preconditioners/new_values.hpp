// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entry.hpp"

namespace furrow {

/// What a preconditioner is besides that can be made for other values of A in the same places from what it keeps.
template <class V> class takes_new_values {
public:
  /// Makes M for `a`, triplets that were checked. False where it has to be made from the beginning: other places, or
  /// values that what is kept would serve badly. M serves no more then, nor where this throws, which it does as the
  /// maker.
  virtual bool update(const coo<V>& a, solver_needs needed) = 0;
  /// The same from rows on the current GPU, where M lives.
  virtual bool update_from_rows(const rows_on_gpu<V>& /*a*/, solver_needs /*needed*/) { return false; }

protected:
  ~takes_new_values() = default;
};

} // namespace furrow
