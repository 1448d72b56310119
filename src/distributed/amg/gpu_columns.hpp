// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <cstdint>

namespace furrow::amg {

/// The first of `count` ascending numbers that is not below `value`; their number where all are.
FURROW_HD inline index_t first_not_below(const std::int32_t* ascending, index_t count, std::int32_t value) {
  index_t low = 0, high = count;
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (ascending[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// How a rank numbers columns that all ranks have, as kernels see it: its own ones from 0 on, behind them `others`, and
/// behind these `more`, which are none of them. Both ascend.
struct named_columns {
  index_t first, own; ///< of all columns, its own first one; how many it has
  cview<std::int32_t> others, more;

  FURROW_HD std::int32_t global_of(std::int32_t local) const {
    if (local < own) return static_cast<std::int32_t>(first) + local;
    const index_t k = local - own;
    return k < others.size ? others[k] : more[k - others.size];
  }
  FURROW_HD bool is_own(std::int32_t global) const { return global >= first && global < first + own; }
  FURROW_HD bool has(std::int32_t global) const {
    if (is_own(global)) return true;
    const index_t k = first_not_below(others.data, others.size, global);
    if (k < others.size && others[k] == global) return true;
    const index_t l = first_not_below(more.data, more.size, global);
    return l < more.size && more[l] == global;
  }
  /// Of one that it has.
  FURROW_HD std::int32_t local_of(std::int32_t global) const {
    if (is_own(global)) return global - static_cast<std::int32_t>(first);
    const index_t k = first_not_below(others.data, others.size, global);
    if (k < others.size && others[k] == global) return static_cast<std::int32_t>(own + k);
    return static_cast<std::int32_t>(own + others.size + first_not_below(more.data, more.size, global));
  }
};

/// As `rank_columns`, with names on a GPU. Columns that come later are named behind those that are there, so that what
/// has names keeps them: P of a rank's rows is not written again when rows of others come behind it.
struct columns_there {
  index_t first = 0, own = 0;
  gpu_array<std::int32_t> others, more;

  index_t count() const { return own + others.size() + more.size(); }
  named_columns seen() const { return {first, own, as_cview(others), as_cview(more)}; }
};

/// Those of `globals` that `known` does not have, ascending, each once; negative numbers are no columns. A radix sort.
/// Waits.
gpu_array<std::int32_t> others_among(cview<std::int32_t> globals, const named_columns& known);

} // namespace furrow::amg
