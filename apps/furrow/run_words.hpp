// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace furrow::cli {

/// Runs "furrow WORDS" here; its exit code. Failures are thrown.
int run_words(std::vector<std::string> words);

} // namespace furrow::cli
