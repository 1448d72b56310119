// SPDX-License-Identifier: BSD-3-Clause
#include "colours.hpp"

#include <algorithm>
#include <array>

namespace furrow::picture {
namespace {

constexpr std::array palette{"#3b82c4", "#d9822b", "#2f9e6e", "#c2548f", "#8a6fd1", "#b39a1f", "#3aa6b9", "#cc5a4a",
                             "#7c8a5a", "#a0724b", "#5b7fa6", "#d46a9f", "#4f9a94", "#9b7fb8", "#c08a3e", "#6f8f3f"};

/// Names with a colour of their own, the k-th of the palette. What is not among them gets one by its letters.
constexpr std::array<std::string_view, 11> known{"csr", "bcsr", "sell",  "hyb",    "dia",    "hdia",
                                                 "ell", "coo",  "dense", "packed", "stencil"};

std::size_t preferred(std::string_view name) {
  const std::string_view base = name.substr(0, name.find(':')); // "sell:8:64"
  const auto* const at = std::ranges::find(known, base);
  if (at != known.end()) return static_cast<std::size_t>(at - known.begin());
  std::size_t sum = 0;
  for (const char c : name) sum = 31 * sum + static_cast<unsigned char>(c);
  return known.size() + sum % (palette.size() - known.size());
}

} // namespace

std::vector<std::string> colours_of(const std::vector<std::string_view>& names) {
  std::vector<std::string> found(names.size());
  std::array<int, palette.size()> taken{};
  const auto give = [&](std::size_t k, std::size_t first) {
    std::size_t at = first;
    for (const auto& count : taken) { // the next one that the fewest have
      const std::size_t next = (first + static_cast<std::size_t>(&count - taken.data())) % palette.size();
      if (taken[next] < taken[at]) at = next;
    }
    ++taken[at];
    found[k] = palette[at];
  };
  // Names with a colour of their own come first: others give way to them.
  for (const bool own : {true, false})
    for (std::size_t k = 0; k < names.size(); ++k)
      if ((std::ranges::find(known, names[k]) != known.end()) == own) give(k, preferred(names[k]));
  return found;
}

} // namespace furrow::picture
