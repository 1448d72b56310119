// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string_view>

namespace furrow::io {

/// Notes the name of a file that is half-written, before it is there, for `remove_unfinished`. Returns the number of
/// the note; 0 where there is no room for one.
std::size_t note_unfinished(std::string_view name) noexcept;
void forget_unfinished(std::size_t note) noexcept;

} // namespace furrow::io
