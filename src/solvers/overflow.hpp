// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ending.hpp"

#include <initializer_list>

namespace furrow {

/// A scalar of a method, as its sentences call it.
struct named_number {
  const char* name;
  double value;
};

/// The end of a method whose numbers have left the range of floating point: which of these did, not as what, for "nan"
/// and "inf" say nothing more. Where all are finite, the residual is the one that did. `ahead`: 1 where the step that
/// did not take place is not counted yet.
ending overflow(std::initializer_list<named_number> numbers, int ahead = 1);

} // namespace furrow
