// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/transpose.hpp"

#include <furrow/formats.hpp>

namespace furrow {

/// A' as an operator, in the format that `choose` takes for it. Beside `a` it takes triplets again while it is made.
template <class V> std::unique_ptr<any_operator<V>> make_transposed(const coo<V>& a, device where) {
  coo<V> t = transposed(a);
  const choice c = choose(measure(t), precision_of<V>, where);
  return make<V>(c, where, std::move(t));
}

} // namespace furrow
