// SPDX-License-Identifier: BSD-3-Clause
// OpenBLAS, found at run time: FURROW_OPENBLAS names libopenblas, otherwise the loader looks for it. Nothing of it is
// needed to build; the prototypes below are the C interface of BLAS. It runs with the kernels of the widest
// instruction set, unless OPENBLAS_CORETYPE says otherwise: on a processor that is newer than it, it takes those of
// 2004.
#include "dense.hpp"
#include "loaded_library.hpp"

#include "backends/cpu/isa.hpp"

#include <cstdlib>
#include <sstream>

namespace furrow::bench::openblas_rival {
namespace {

constexpr int by_columns = 102, as_it_is = 111, transposed_a = 112;

/// The kernels that it should take; null to leave it to itself.
const char* widest_kernels() {
  const cpu::isa widest = cpu::machine_isa();
  if (widest == cpu::isa::avx512) return "SKYLAKEX";
#if defined(__x86_64__)
  if (widest == cpu::isa::avx2 && __builtin_cpu_is("intel")) return "HASWELL"; // it has its own for AMD's
#endif
  return nullptr;
}

/// The functions of libopenblas, where it is there.
struct library {
  bool found = false;
  void (*set_threads)(int) = nullptr;
  const char* (*config)() = nullptr;
  const char* (*core)() = nullptr;
  void (*gemv_f64)(int, int, int, int, double, const double*, int, const double*, int, double, double*, int) = nullptr;
  void (*gemv_f32)(int, int, int, int, float, const float*, int, const float*, int, float, float*, int) = nullptr;

  library() {
    // Read when it is loaded: which kernels, and that idle threads spin for 2^22 cycles, 2 ms, in place of a tenth of a
    // second. Calls of a measurement follow each other faster, and turns can then be short.
    if (const char* const kernels = widest_kernels()) setenv("OPENBLAS_CORETYPE", kernels, 0);
    setenv("OPENBLAS_THREAD_TIMEOUT", "22", 0);
    const loaded_library file("FURROW_OPENBLAS", {"libopenblas.so.0", "libopenblas.so"});
    found = file.find("openblas_set_num_threads", set_threads) && file.find("openblas_get_config", config) &&
            file.find("openblas_get_corename", core) && file.find("cblas_dgemv", gemv_f64) &&
            file.find("cblas_sgemv", gemv_f32);
  }
};

const library& loaded() {
  static const library it;
  return it;
}

template <class T> void multiply(bool transposed, index_t rows, index_t cols, const T* a, const T* x, T* y) {
  const library& l = loaded();
  l.set_threads(threads());
  const auto gemv = [&] {
    if constexpr (sizeof(T) == 8) return l.gemv_f64;
    else return l.gemv_f32;
  }();
  const int m = static_cast<int>(rows), n = static_cast<int>(cols);
  gemv(by_columns, transposed ? transposed_a : as_it_is, m, n, T(1), a, m, x, 1, T(0), y, 1);
}

} // namespace

const dense_ways* dense() {
  static constexpr dense_ways all{multiply<double>, multiply<float>};
  return &all;
}

/// "0.3.21" of "OpenBLAS 0.3.21 NO_LAPACKE ...", and whose kernels it takes: "0.3.21 (SkylakeX)".
std::string version() {
  if (!loaded().found) return {};
  std::istringstream words(loaded().config());
  std::string name, number;
  words >> name >> number;
  return number + " (" + loaded().core() + ")";
}

} // namespace furrow::bench::openblas_rival
