// SPDX-License-Identifier: BSD-3-Clause
#include "cudss.hpp"

#include "core/check.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

#include <optional>

namespace furrow::lu::cudss {
namespace {

template <class F> bool look_up(void* from, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(from, name));
  return function != nullptr;
}

/// `why`: why not, where the file is there.
std::optional<library> load(const char* file, std::string& why) {
  void* const from = dlopen(file, RTLD_NOW | RTLD_LOCAL); // stays: its kernels may run when a process ends
  if (!from) {
    const char* const said = dlerror();
    if (const std::string text = said ? said : ""; !text.starts_with(file)) why = text; // it misses another library
    return {};
  }
  library l;
  int (*property)(int, int*) = nullptr;
  if (!look_up(from, "cudssGetProperty", property)) return {};
  if (property(0, &l.major) != 0 || property(1, &l.minor) != 0 || property(2, &l.patch) != 0) return {};
  if (!(l.major == 0 && l.minor == 7) && l.major != 1) {
    why = l.name() + " is another version";
    return {};
  }
  const bool whole =
      look_up(from, "cudssCreate", l.create) && look_up(from, "cudssDestroy", l.destroy) &&
      look_up(from, "cudssSetStream", l.set_stream) && look_up(from, "cudssConfigCreate", l.config_create) &&
      look_up(from, "cudssConfigDestroy", l.config_destroy) && look_up(from, "cudssConfigSet", l.config_set) &&
      look_up(from, "cudssDataCreate", l.data_create) && look_up(from, "cudssDataDestroy", l.data_destroy) &&
      look_up(from, "cudssDataGet", l.data_get) && look_up(from, "cudssMatrixCreateDn", l.matrix_create_dn) &&
      look_up(from, "cudssMatrixDestroy", l.matrix_destroy) &&
      look_up(from, "cudssMatrixSetValues", l.matrix_set_values) && look_up(from, "cudssExecute", l.execute) &&
      (l.major == 0 ? look_up(from, "cudssMatrixCreateCsr", l.csr_0) : look_up(from, "cudssMatrixCreateCsr", l.csr_1));
  return whole ? std::optional(l) : std::nullopt;
}

struct search {
  std::optional<library> found;
  std::string why;
};
const search& searched() {
  static const search once = [] {
    search s;
    for (const char* file : {"libcudss.so.1", "libcudss.so.0"})
      if (!s.found) s.found = load(file, s.why);
    return s;
  }();
  return once;
}

} // namespace

status library::matrix_create_csr(object* matrix, std::int64_t n, std::int64_t nnz, void* begin, void* col,
                                  void* val) const {
  constexpr int general = 0, whole = 0, from_zero = 0;
  return major == 0 ? csr_0(matrix, n, n, nnz, begin, nullptr, col, val, integer_32, real_64, general, whole, from_zero)
                    : csr_1(matrix, n, n, nnz, begin, nullptr, col, val, integer_32, integer_32, real_64, general,
                            whole, from_zero);
}

std::string library::name() const { return fmt::format("cuDSS {}.{}.{}", major, minor, patch); }

const library* find() { return searched().found ? &*searched().found : nullptr; }

void refuse_without() {
  const std::string& why = searched().why;
  throw_sentence(
      fault::device,
      "a factorisation on a GPU needs cuDSS 0.7 or 1, which {}: pip install nvidia-cudss-cu13 has it and what "
      "it needs; name their folders in LD_LIBRARY_PATH, or solve on the CPU",
      why.empty() ? "is not found" : "cannot be loaded (" + why + ")");
}

void check(status s, const char* doing) {
  furrow::check(s != out_of_memory, fault::memory,
                "cuDSS ran out of memory while {}: take an iterative solver, "
                "or solve on the CPU",
                doing);
  furrow::check(s == 0, fault::device, "cuDSS failed with status {} while {}", s, doing);
}

void check_memory(double needed, double there, const char* side) {
  furrow::check(needed <= there, fault::memory,
                "the factors need {:.3g} GB on the {}, of which {:.3g} GB can "
                "be had: take an iterative solver, or solve "
                "on the CPU",
                needed * 1e-9, side, there * 1e-9);
}

std::string describe(const library& l, double times, int raised) {
  return fmt::format("sparse factors by {}, {:.1f} times the bytes of the entries{}", l.name(), times,
                     raised > 0 ? fmt::format(", {} pivots made larger", raised) : "");
}

} // namespace furrow::lu::cudss
