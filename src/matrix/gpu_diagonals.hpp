// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/csr/csr.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// The distinct values of column minus row of rows in the memory of the current GPU, ascending, unless there are more
/// than `most`; empty then. A byte for each diagonal there could be. Waits.
template <class V> gpu_array<std::int32_t> diagonals_on_gpu(const csr<V, index_t, cview>& a, index_t most);

} // namespace furrow
