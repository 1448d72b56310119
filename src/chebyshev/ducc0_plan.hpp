// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <memory>

/// What the library ducc0 is to the rest: its headers are included by ducc0_plan_of.hpp alone, which is compiled once
/// for every machine and once for each set of vector instructions.
namespace furrow::chebyshev {

struct ducc0_plan {
  static constexpr index_t one_thread = 32768; ///< up to that length `threads` is not looked at
  ducc0_plan() = default;
  ducc0_plan(const ducc0_plan&) = delete;
  virtual ~ducc0_plan() = default;
  virtual index_t room() const = 0;
  virtual double bytes() const = 0;
  virtual double* run(double* x, double* room, bool minus, int threads) const = 0;
};
using ducc0_pointer = std::unique_ptr<const ducc0_plan>;

ducc0_pointer ducc0_baseline_plan(index_t n);

// Clang has no pragma that changes the instruction set of what follows, and GCC 13 does not obey it in constructors
// that a class has by itself; with a sanitizer GCC takes minutes for vectors.
#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ < 13 && !defined(__SANITIZE_ADDRESS__)
#define FURROW_DUCC0_VECTORS 1
ducc0_pointer ducc0_avx2_plan(index_t n);
ducc0_pointer ducc0_avx512_plan(index_t n);
#endif

} // namespace furrow::chebyshev
