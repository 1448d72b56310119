// SPDX-License-Identifier: BSD-3-Clause
#include "tables.hpp"

#include "core/look.hpp"

#include <furrow/formats.hpp>

namespace furrow {

#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_format {                                                                                            \
    extern const format_entry entry;                                                                                   \
  }
#include "formats.inc"
#undef FURROW_ENTRY

#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_format {                                                                                            \
    extern const format_look look;                                                                                     \
  }
#include "looks.inc"
#undef FURROW_ENTRY

namespace {

constexpr const format_entry* table[] = {
#define FURROW_ENTRY(name) &name##_format::entry,
#include "formats.inc"
#undef FURROW_ENTRY
};

constexpr const format_look* looks[] = {
#define FURROW_ENTRY(name) &name##_format::look,
#include "looks.inc"
#undef FURROW_ENTRY
};

} // namespace

std::span<const format_look* const> format_looks() { return looks; }

std::span<const format_entry* const> formats() { return table; }

const format_entry& find_format(std::string_view name) { return find_entry(formats(), "format", name); }

} // namespace furrow
