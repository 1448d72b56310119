// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace furrow::cli {

/// The candidate that a slip of the finger turns into `word`, or "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Throws `fault::usage` unless `word` is a candidate: "there is no KIND 'word': did you mean X? choose one of ...".
void check_name(std::string_view kind, std::string_view word, const std::vector<std::string>& candidates);

} // namespace furrow::cli
