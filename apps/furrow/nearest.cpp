// SPDX-License-Identifier: BSD-3-Clause
#include "nearest.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace furrow::cli {
namespace {

/// Insertions, deletions, substitutions and swaps of neighbours that lead from a to b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

} // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = std::min<std::size_t>(3, word.size() / 2 + 1); // farther away it is another word
  for (const auto& c : candidates) {
    const bool begins = word.size() >= 2 && std::string_view(c).starts_with(word);
    const std::size_t d = begins ? 1 : distance(word, c);
    if (d < least) {
      least = d;
      best = c;
    }
  }
  return best;
}

void check_name(std::string_view kind, std::string_view word, const std::vector<std::string>& candidates) {
  if (std::ranges::find(candidates, word) != candidates.end()) return;
  const std::string guess = nearest(word, candidates);
  throw error(fault::usage, fmt::format("there is no {} '{}': {}choose {}{}", kind, word,
                                        guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),
                                        candidates.size() > 1 ? "one of " : "", fmt::join(candidates, ", ")));
}

} // namespace furrow::cli
