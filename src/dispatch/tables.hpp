// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string_view>
#include <vector>

namespace furrow {

/// The entry of that name; otherwise a sentence that names those that exist.
template <class Entry>
const Entry& find_entry(std::span<const Entry* const> table, std::string_view kind, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry* e : table) {
    if (e->name == name) return *e;
    names.push_back(e->name);
  }
  throw error(fault::usage, fmt::format("there is no {} '{}': choose one of {}", kind, name, fmt::join(names, ", ")));
}

} // namespace furrow
