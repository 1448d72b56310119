// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/entry.hpp"

#include <furrow/error.hpp>

namespace furrow::lu {

/// M = A^-1 = C (R A C)^-1 R on the current GPU, by cuDSS: in double also for a
/// system of floats, factored once, solved often. Its scales, its order and,
/// where the pattern is not symmetric, its matching of rows with columns are
/// the library's; pivots are looked for inside blocks, and those that are too
/// small are made larger, which `describe` says and refinement corrects. No
/// condition number. An application is two passes and the library's solve, and
/// cannot be recorded. The same bits on every run: the library's deterministic
/// mode is on. Throws `refusal` with status::singular, `fault::memory` by the
/// library's own estimate before it factors, `fault::device` where the library
/// is not there.
#if FURROW_HAS_GPU
template <class V> std::unique_ptr<any_preconditioner<V>> factored_by_cudss(const coo<V>& a, device where);
#else
template <class V> std::unique_ptr<any_preconditioner<V>> factored_by_cudss(const coo<V>&, device) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

} // namespace furrow::lu
