// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/check.hpp"
#include "core/host_room.hpp"
#include "core/transpose.hpp"

#include <furrow/formats.hpp>

namespace furrow {

/// A' as an operator, in the format that `choose` takes for it. Beside `a` it takes triplets again while it is made.
/// Throws `fault::memory` before it takes what cannot be had.
template <class V> std::unique_ptr<any_operator<V>> make_transposed(const coo<V>& a, device where) {
  const double takes = (8 + double(sizeof(V))) * double(a.nnz()) + 8 * double(a.shape.cols);
  if (host_room free; !free.takes(takes))
    throw_sentence(fault::memory, "the transposed matrix takes {:.3g} GB, of which {:.3g} GB can be had", takes * 1e-9,
                   free.bytes() * 1e-9);
  coo<V> t = transposed(a);
  const choice c = choose(measure(t), precision_of<V>, where);
  return make<V>(c, where, std::move(t));
}

} // namespace furrow
