// SPDX-License-Identifier: BSD-3-Clause
#include "isa.hpp"

#include "core/environment.hpp"

#include <atomic>
#include <string_view>

namespace furrow::cpu {
namespace {

isa detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  const isa best = avx512 ? isa::avx512 : avx2 ? isa::avx2 : isa::baseline;
#else
  const isa best = isa::baseline;
#endif
  const std::string_view name = environment("FURROW_ISA");
  if (name.empty()) return best;
  const isa wanted = name == "avx512" ? isa::avx512 : name == "avx2" ? isa::avx2 : isa::baseline;
  return wanted < best ? wanted : best;
}

std::atomic<bool>& taken_for_intel() {
#if defined(__x86_64__)
  static std::atomic<bool> one = bool(__builtin_cpu_is("intel"));
#else
  static std::atomic<bool> one = false;
#endif
  return one;
}

} // namespace

isa machine_isa() {
  static const isa one = detect();
  return one;
}

bool has_vector_bits() {
#if defined(__x86_64__)
  return machine_isa() == isa::avx512 && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("avx512vpopcntdq");
#else
  return false;
#endif
}

bool by_intel() { return taken_for_intel().load(std::memory_order_relaxed); }
bool fetching_ahead_helps() { return by_intel(); }
bool long_runs_help() { return by_intel(); }

pretend_intel::pretend_intel(bool one) : before_(taken_for_intel().exchange(one)) {}
pretend_intel::~pretend_intel() { taken_for_intel() = before_; }

} // namespace furrow::cpu
