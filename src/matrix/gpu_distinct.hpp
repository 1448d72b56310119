// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_format_look.hpp"

#include <vector>

namespace furrow {

/// Counts the distinct values, told apart by their bits, to words that are zeros before. set: words all bits of which
/// are set before. Enqueues.
inline constexpr index_t distinct_words = 3, distinct_set_words = 1024;
template <class V> void enqueue_distinct(cview<V> values, found_word* set, found_word* to);
/// How many, as `stats` tell it.
index_t distinct_found(const found_word* home);
/// Which, as `distinct_values`, where they are no more than 256.
template <class V> std::vector<V> distinct_of(const found_word* home, const found_word* set);

} // namespace furrow
