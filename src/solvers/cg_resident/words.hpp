// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

/// How the blocks of one kernel talk: by words that carry a value and the number of the step that it belongs to,
/// written and read at once. Whoever needs a value reads its word until it has the right stamp: no barrier, no fence,
/// one way through the second cache. A word of a step may be written when all have read that of the step before.
namespace furrow::resident {

/// The value and its stamp in one unit of memory: 16 bytes for a double, 8 for a float.
template <class V> struct word;
template <> struct alignas(16) word<double> {
  using stamp_type = std::uint64_t;
  double value;
  stamp_type stamp;
};
template <> struct alignas(8) word<float> {
  using stamp_type = std::uint32_t;
  float value;
  stamp_type stamp;
};

/// One that all blocks read, in a sector of its own.
struct alignas(32) sum_word {
  word<double> one;
};

#if defined(__CUDACC__)
__device__ inline void post(word<double>* at, double value, std::uint64_t stamp) {
  asm volatile("{\n\t.reg .b128 w;\n\tmov.b128 w, {%1, %2};\n\tst.relaxed.gpu.global.b128 [%0], w;\n\t}" ::"l"(at),
               "l"(__double_as_longlong(value)), "l"(stamp)
               : "memory");
}
__device__ inline void post(word<float>* at, float value, std::uint32_t stamp) {
  asm volatile("{\n\t.reg .b64 w;\n\tmov.b64 w, {%1, %2};\n\tst.relaxed.gpu.global.b64 [%0], w;\n\t}" ::"l"(at),
               "r"(__float_as_uint(value)), "r"(stamp)
               : "memory");
}
__device__ inline word<double> look(const word<double>* at) {
  long long value;
  std::uint64_t stamp;
  asm volatile("{\n\t.reg .b128 w;\n\tld.relaxed.gpu.global.b128 w, [%2];\n\tmov.b128 {%0, %1}, w;\n\t}"
               : "=l"(value), "=l"(stamp)
               : "l"(at)
               : "memory");
  return {__longlong_as_double(value), stamp};
}
__device__ inline word<float> look(const word<float>* at) {
  std::uint32_t value, stamp;
  asm volatile("{\n\t.reg .b64 w;\n\tld.relaxed.gpu.global.b64 w, [%2];\n\tmov.b64 {%0, %1}, w;\n\t}"
               : "=r"(value), "=r"(stamp)
               : "l"(at)
               : "memory");
  return {__uint_as_float(value), stamp};
}

/// The values at at(0), ..., at(count - 1), 1 to N of them, once all have that stamp. All reads of a turn are under way
/// at once: a condition before each would make them wait for each other.
template <int N, class V, class Address>
__device__ void collect(Address at, int count, typename word<V>::stamp_type stamp, V (&values)[N]) {
  bool all;
  do {
    word<V> w[N];
#pragma unroll
    for (int k = 0; k < N; ++k) w[k] = look(at(k < count ? k : 0));
    all = true;
#pragma unroll
    for (int k = 0; k < N; ++k) all = all & (w[k].stamp == stamp), values[k] = w[k].value;
  } while (!all);
}
#endif

} // namespace furrow::resident
