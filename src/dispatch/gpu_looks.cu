// SPDX-License-Identifier: BSD-3-Clause
#include "matrix/gpu_format_look.hpp"

namespace furrow {

#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_format {                                                                                            \
    extern const gpu_format_look gpu_look;                                                                             \
  }
#include "gpu_looks.inc"
#undef FURROW_ENTRY

namespace {
constexpr const gpu_format_look* table[] = {
#define FURROW_ENTRY(name) &name##_format::gpu_look,
#include "gpu_looks.inc"
#undef FURROW_ENTRY
};
} // namespace

std::span<const gpu_format_look* const> gpu_format_looks() { return table; }

} // namespace furrow
