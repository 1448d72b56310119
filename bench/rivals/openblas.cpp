// SPDX-License-Identifier: BSD-3-Clause
// OpenBLAS, found at run time: FURROW_OPENBLAS names libopenblas, otherwise the loader looks for it. Nothing of it is
// needed to build; the prototypes below are the C interface of BLAS.
#include "dense.hpp"
#include "loaded_library.hpp"

#include "backends/cpu/isa.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace furrow::bench::openblas_rival {
namespace {

constexpr int by_columns = 102, as_it_is = 111, transposed_a = 112;

/// The kernels of the widest instruction set that both it and this machine have.
const char* widest_kernels() {
  switch (cpu::machine_isa()) {
  case cpu::isa::avx512:
    return "SKYLAKEX";
  case cpu::isa::avx2:
    return "HASWELL";
  default:
    return "PRESCOTT";
  }
}

constexpr std::initializer_list<const char*> files{"libopenblas.so.0", "libopenblas.so"};

/// Runs this program again from its beginning, with the environment as it is now. Returns where that is impossible.
void start_again() {
  std::ifstream command("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(command, word, '\0');) words.push_back(word);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv("/proc/self/exe", pointers.data());
}

/// Sets what OpenBLAS reads from the environment while it is loaded, unless a person has set it, and begins this
/// program once more. Idle threads spin for 2^22 cycles, 2 ms, in place of a tenth of a second, so that turns of a
/// measurement can be short. And on a processor that is newer than it, where it takes the kernels of 2004, it takes the
/// widest.
void set_up() {
  constexpr const char* timeout = "OPENBLAS_THREAD_TIMEOUT";
  if (std::getenv(timeout)) return;
  const loaded_library file("FURROW_OPENBLAS", files);
  const char* (*core)() = nullptr;
  if (!file.find("openblas_get_corename", core)) return;
  setenv(timeout, "22", 0);
  if (core() == std::string_view("Prescott")) setenv("OPENBLAS_CORETYPE", widest_kernels(), 0);
  start_again();
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
    set_up();
    const loaded_library file("FURROW_OPENBLAS", files);
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
