// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

#include <optional>
#include <string>

namespace furrow {

/// Compressed rows, which take the triplets as they are, where a choice would take longer than it can save; `why` in a
/// few words. Nothing where a person asks for a format or a kernel, or the environment does.
std::optional<choice> rows_as_they_are(const wish& w, std::string why);

} // namespace furrow
