// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/checkpoint.hpp>

namespace furrow {

/// `fingerprint` of rows of a system that begin at `first`, and of their b: sums that add up over the parts.
template <class V> system_fingerprint fingerprint_of_rows(index_t first, const coo<V>& a, cview<V> b);

} // namespace furrow
