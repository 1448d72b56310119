// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

namespace furrow::cli {

/// Whether stderr is a person's terminal on which a line can be drawn again.
bool stderr_is_live();

/// Columns of the terminal; 80 where there is none.
int terminal_width();

/// Whether text may have colours: a terminal, no NO_COLOR, no TERM=dumb.
bool stdout_has_colour();
bool stderr_has_colour();

/// Whether the locale allows other letters than ASCII: true unless it says otherwise.
bool locale_is_utf8();

/// `text` in that style where stdout has colour, otherwise just `text`.
std::string bold(std::string_view text);
std::string dim(std::string_view text);
std::string good(std::string_view text); ///< green
std::string bad(std::string_view text);  ///< red

} // namespace furrow::cli
