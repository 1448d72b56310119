// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

namespace furrow {

/// `text` from outside (a name, a line of a file) fit for a terminal, a message, a picture: UTF-8 of letters that can
/// be seen. Control characters (those of ASCII, C1, line and paragraph ends), characters that turn the direction of
/// writing, and bytes that are no UTF-8 each become `instead`.
std::string printable(std::string_view text, char instead = '?');

} // namespace furrow
