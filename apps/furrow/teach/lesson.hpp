// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow::cli {

/// A page of docs/kernels, as it is: a title "# NAME: ABOUT", the idea up to the first section, and the commands of the
/// first console block, which are its example.
struct lesson {
  std::string_view name, page;

  std::string_view about() const;
  /// The paragraphs, without line ends inside.
  std::vector<std::string> idea() const;
  /// The words of each command, "furrow" not among them.
  std::vector<std::vector<std::string>> commands() const;
};

/// All of them, in the order in which docs/kernels/README.md lists them. The table is generated.
std::span<const lesson> lessons();

/// `text` in lines of up to `width` columns.
std::string wrapped(std::string_view text, int width);

} // namespace furrow::cli
