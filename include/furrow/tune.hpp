// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

namespace furrow {

/// The fastest way to multiply by `a`, measured: the first candidates of `shortlist` are made on `where` one after the
/// other and a product of each is timed. The winner is written to a file, under the matrix, the device and the build
/// of this library, and the next call finds it there (FURROW_CACHE names the folder; "off": no file). Holds, beside
/// `a`, a second copy of the triplets and one operator at a time. `expected_products` of the wish weighs the cost of
/// making, measured too. Two calls may choose differently where two candidates are equally fast. Throws as
/// `check_triplets` and `shortlist` do, `fault::usage` for statistics of another matrix.
template <class V> choice tune(const coo<V>& a, const stats& s, device where, const wish& w = {});

} // namespace furrow
