// SPDX-License-Identifier: BSD-3-Clause
#include "cudss.hpp"

#include "core/check.hpp"
#include "core/late_library.hpp"

#include <fmt/format.h>

#include <optional>

namespace furrow::lu::cudss {
namespace {

/// One of that name; where it is none, `why`.
std::optional<library> load(const char* name, std::string& why) {
  const late_library from = open_late({name}, cuda_folders("cudss"));
  if (why = from.why; !from.handle) return {};
  why = "cannot be used (" + from.file.string() + " lacks functions)";
  library l;
  int (*property)(int, int*) = nullptr;
  if (!from.has("cudssGetProperty", property)) return {};
  if (property(0, &l.major) != 0 || property(1, &l.minor) != 0 || property(2, &l.patch) != 0) return {};
  if (!(l.major == 0 && l.minor == 7) && l.major != 1) {
    why = "cannot be used (" + l.name() + " is another version)";
    return {};
  }
  const bool whole =
      from.has("cudssCreate", l.create) && from.has("cudssDestroy", l.destroy) &&
      from.has("cudssSetStream", l.set_stream) && from.has("cudssConfigCreate", l.config_create) &&
      from.has("cudssConfigDestroy", l.config_destroy) && from.has("cudssConfigSet", l.config_set) &&
      from.has("cudssDataCreate", l.data_create) && from.has("cudssDataDestroy", l.data_destroy) &&
      from.has("cudssDataGet", l.data_get) && from.has("cudssMatrixCreateDn", l.matrix_create_dn) &&
      from.has("cudssMatrixDestroy", l.matrix_destroy) && from.has("cudssMatrixSetValues", l.matrix_set_values) &&
      from.has("cudssExecute", l.execute) &&
      (l.major == 0 ? from.has("cudssMatrixCreateCsr", l.csr_0) : from.has("cudssMatrixCreateCsr", l.csr_1));
  return whole ? std::optional(l) : std::nullopt;
}

struct search {
  std::optional<library> found;
  std::string why;
};
/// The newest one; where there is none, what is wrong with one that is there.
const search& searched() {
  static const search once = [] {
    search s;
    for (const char* name : {"libcudss.so.1", "libcudss.so.0"}) {
      if (s.found) break;
      std::string why;
      s.found = load(name, why);
      if (s.why.empty() || !why.starts_with("is not found")) s.why = why;
    }
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
  throw_sentence(
      fault::device,
      "a factorisation on a GPU needs cuDSS 0.7 or 1, which {}: pip install nvidia-cudss-cu13 has it and what "
      "it needs; name their folders in LD_LIBRARY_PATH, or solve on the CPU",
      searched().why);
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
