// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <CLI/CLI.hpp>

#include <limits>
#include <string_view>

namespace furrow::cli {

/// 1 where a number begins with a plus sign, which from_chars does not take, and has no other sign behind it.
std::size_t plus_length(std::string_view text);

/// Checks for options that take numbers, as `option->transform(whole(1))`. What does not pass is said in a few words:
/// "--threads: must be at least 1, not 0". Words, NaN and infinities never pass.

/// A whole number; "1e6" is one too.
CLI::Validator whole(index_t least, index_t most = std::numeric_limits<index_t>::max());

/// A number of at least `least` and at most `most`.
CLI::Validator real(double least, double most = std::numeric_limits<double>::max());
/// A number above `low` and, where `high` is said, below it.
CLI::Validator between(double low, double high = std::numeric_limits<double>::infinity());
/// A number of at least `least` and below `high`.
CLI::Validator from_to_below(double least, double high);

} // namespace furrow::cli
