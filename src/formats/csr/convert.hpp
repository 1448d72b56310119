// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include "backends/cpu/copy.hpp"
#include "core/row_offsets.hpp"

#include <furrow/coo.hpp>

namespace furrow {

/// Takes the columns and values of `a`; its row indices become offsets.
template <class I, class V> csr<V, I, host_array> to_csr(coo<V> a) {
  auto row_ptr = row_offsets<I>(a);
  return {a.shape, std::move(row_ptr), std::move(a.col), std::move(a.val)};
}
template <class I, class V> csr<V, I, host_array> to_csr(measured_coo<V> a) {
  auto row_ptr = row_offsets<I>(a);
  return {a.shape, std::move(row_ptr), std::move(a.col), std::move(a.val)};
}

/// The same with copies.
template <class I, class V> csr<V, I, host_array> to_csr(const borrowed_rows<V>& a) {
  return {a.shape, row_offsets<I>(a), copy_of(a.col), copy_of(a.val)};
}

template <class V, class I> coo<V> to_coo(const csr<V, I, host_array>& a) {
  coo<V> result{a.shape, host_array<std::int32_t>(a.col.size()), a.col, a.val};
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t r = first; r < last; ++r)
      for (I k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) result.row[k] = static_cast<std::int32_t>(r);
  });
  return result;
}

} // namespace furrow
