// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <type_traits>

/// One binary, every x86 machine: `widest(body)` compiles `body` for each instruction set and runs the widest one here.
/// A body must be a lambda marked FURROW_INLINE, so that it becomes part of each version.
#define FURROW_INLINE __attribute__((always_inline))

namespace furrow::cpu {

enum class isa { baseline, avx2, avx512 };

/// The widest instruction set of this machine; FURROW_ISA=baseline|avx2|avx512 asks for a narrower one.
isa machine_isa();
/// Whether `machine_isa()` is avx512 and the machine knows AVX-512 VBMI2 and VPOPCNTDQ too (from Ice Lake and Zen 4
/// on).
bool has_vector_bits();
/// The maker of the processor, or as whose it is taken (`pretend_intel`). Gathers are fast on processors by Intel, and
/// cost as much as single loads, or more, on those by AMD (Zen 4).
bool by_intel();
/// Whether a plain stream from memory gains where the program asks ahead: on processors by Intel (Sapphire Rapids) a
/// tenth, and up to a half where there is work to do for every few bytes; on those by AMD (Zen 3) it loses a tenth.
bool fetching_ahead_helps();
/// Whether several streams from memory gain where 512 bytes or a KiB of one are read before the next, and eight of them
/// where four would do: on processors by Intel (Sapphire Rapids); on those by AMD (Zen 4) it loses up to a quarter.
bool long_runs_help();
/// While one lives, the processor is taken for one by Intel, or for another: so tests run the loops of both anywhere.
class pretend_intel {
public:
  explicit pretend_intel(bool one);
  pretend_intel(const pretend_intel&) = delete;
  pretend_intel& operator=(const pretend_intel&) = delete;
  ~pretend_intel();

private:
  bool before_;
};

#if defined(__x86_64__)
/// For functions that are written with intrinsics and chosen by `machine_isa()`.
#define FURROW_AVX2 __attribute__((target("avx2,fma,bmi2")))
/// With bytes that are compressed and expanded and bits that are counted in vectors; where `has_vector_bits()`.
#define FURROW_AVX512_BITS                                                                                             \
  __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512vbmi2,avx512vpopcntdq,avx2,fma,bmi,bmi2")))
#if defined(__clang__) // takes no preferred width in an attribute
#define FURROW_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi2")))
#else
#define FURROW_AVX512                                                                                                  \
  __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi2,prefer-vector-width=512")))
#endif

template <class F> FURROW_AVX512 void run_avx512(const F& body) { body(); }
template <class F> FURROW_AVX2 void run_avx2(const F& body) { body(); }

#if defined(FURROW_ONE_ISA) // bytes of a register: a sanitized program knows the machine alone that builds it
template <class F> void widest(const F& body) {
  if constexpr (FURROW_ONE_ISA == 64) run_avx512(body);
  else if constexpr (FURROW_ONE_ISA == 32) run_avx2(body);
  else body();
}
template <class F> void widest_registers(const F& body) {
  widest([&]() FURROW_INLINE { body(std::integral_constant<int, FURROW_ONE_ISA>{}); });
}
#else
template <class F> void widest(const F& body) {
  switch (machine_isa()) {
  case isa::avx512:
    return run_avx512(body);
  case isa::avx2:
    return run_avx2(body);
  case isa::baseline:
    return body();
  }
}

/// The same for a body that is told how many bytes a vector register has: body(std::integral_constant<int, 32>{}).
template <class F> void widest_registers(const F& body) {
  switch (machine_isa()) {
  case isa::avx512:
    return run_avx512([&]() FURROW_INLINE { body(std::integral_constant<int, 64>{}); });
  case isa::avx2:
    return run_avx2([&]() FURROW_INLINE { body(std::integral_constant<int, 32>{}); });
  case isa::baseline:
    return body(std::integral_constant<int, 16>{});
  }
}
#endif
#else
template <class F> void widest(const F& body) { body(); }
template <class F> void widest_registers(const F& body) { body(std::integral_constant<int, 16>{}); }
#endif

} // namespace furrow::cpu
