// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/parameters.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string_view>
#include <vector>

namespace furrow {

/// The entry of that name, "ilu" or "ilu:2"; otherwise a sentence that names those that exist.
template <class Entry>
const Entry& find_entry(std::span<const Entry* const> table, std::string_view kind, std::string_view name) {
  std::vector<std::string_view> names;
  const std::string_view wanted = take_apart(name).name;
  for (const Entry* e : table) {
    if (e->name == wanted) return *e;
    names.push_back(e->name);
  }
  if (wanted == "auto" && name != wanted)
    throw error(fault::usage,
                fmt::format("{} '{}': auto takes no parameters: name another one, or auto alone", kind, name));
  if (wanted != "auto") names.insert(names.begin(), "auto");
  throw error(fault::usage, fmt::format("there is no {} '{}': choose one of {}", kind, wanted, fmt::join(names, ", ")));
}

/// Whether there is one.
template <class Entry> bool has_entry(std::span<const Entry* const> table, std::string_view name) {
  const std::string_view wanted = take_apart(name).name;
  return std::ranges::any_of(table, [&](const Entry* e) { return e->name == wanted; });
}

} // namespace furrow
