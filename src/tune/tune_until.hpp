// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

#include <functional>

namespace furrow {

/// `tune` that asks `stopped` before each candidate: true ends it with the fastest so far, which is not written to the
/// file of winners, or with the one that is expected to be fastest where fewer than two were measured.
template <class V>
choice tune_until(const coo<V>& a, const stats& s, device where, const wish& w, const std::function<bool()>& stopped);

} // namespace furrow
