// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/sparse.hpp>

namespace furrow {

/// Throws `fault::input` for triplets with sides that no matrix has, or arrays of different lengths.
template <class V> void check_sizes(const coo<V>& a);

/// Throws `fault::input` for sides that no matrix has and lengths of arrays that do not fit.
template <class V, class I> void check_lengths(const csr_arrays<V, I>& a);

/// Throws `fault::input` for offsets that do not begin with 0, that decrease, or that end behind the columns.
template <class V, class I> void check_offsets(const csr_arrays<V, I>& a);

/// Throws for the first thing that is wrong with rows in host memory; something must be.
template <class V, class I> [[noreturn]] void refuse_rows(const csr_arrays<V, I>& a);

} // namespace furrow
