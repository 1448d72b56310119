// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace furrow::cli {

/// "furrow WORD ...", each word quoted where a shell would read it otherwise. Letters that a terminal obeys, and bytes
/// that are no UTF-8, are written as bash and zsh take them: $'\x1b'.
std::string shell_command(const std::vector<std::string>& words);

} // namespace furrow::cli
