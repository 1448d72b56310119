// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/sparse.hpp>

#include <optional>

namespace furrow {

/// Rows of the caller where they lie, with their row indices; nothing where they are not sorted or hold a place twice.
/// One parallel pass; 4 bytes an entry. Throws as `to_coo`.
template <class V> std::optional<borrowed_coo<V>> borrow(const csr_arrays<V, std::int32_t>& a);

/// The same with columns and values of its own.
template <class V> coo<V> copy_of(borrowed_coo<V> a);

} // namespace furrow
