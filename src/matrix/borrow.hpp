// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/sparse.hpp>
#include <furrow/stats.hpp>

#include <optional>

namespace furrow {

/// Rows of the caller where they lie, and what `measure_sums` finds of them.
template <class V> struct measured_rows {
  borrowed_rows<V> rows;
  stats sums;
};
/// Nothing where they are not sorted or hold a place twice. One parallel pass. Throws as `to_coo`.
template <class V> std::optional<measured_rows<V>> borrow_and_measure(const csr_arrays<V, std::int32_t>& a);

/// Those rows as triplets.
template <class V> coo<V> copy_of(const borrowed_rows<V>& a);

} // namespace furrow
