// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/units.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace furrow::cli {

std::string share_text(double share);            ///< "12 %"; empty for NaN
std::string ceiling_text(double bytes_a_second); ///< "; reads 33.1 GB/s at best"; empty for NaN

/// "  label     text", labels in one column.
std::string line(std::string_view label, std::string_view text);

/// Writes to stdout at once. Throws `fault::input` where that fails (a full disk).
void print(std::string_view text);
/// Whether `print` was called.
bool something_is_printed();

/// The report on what was written to `outputs`: to stderr where one is standard output (`-`), otherwise to stdout.
void print_beside(std::initializer_list<std::string_view> outputs, std::string_view text);
/// How a report names a file that was written.
std::string place_text(std::string_view output);

/// One line on stderr: "furrow: text", and what more there is to say. It is dropped where it cannot be written, and
/// takes no memory: the work goes on.
void remark(std::string_view text, std::string_view more = {}) noexcept;
/// The same of text that is more than a line, or a part of one.
void put_on_stderr(std::string_view text) noexcept;

} // namespace furrow::cli
