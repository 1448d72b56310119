// SPDX-License-Identifier: BSD-3-Clause
#include "nearest.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

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

/// Letters and digits, small: "--max-iterations" and "--MaxIter" begin alike. Bytes of other alphabets stay.
std::string bare(std::string_view word) {
  std::string text;
  for (const char c : word)
    if (static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)))
      text += static_cast<char>(std::tolower(c));
  return text;
}

/// How far the word that was meant is from the one that was written: slips of the finger, or 1 and 2 where one is a
/// part of the other.
std::size_t slips(std::string_view written, std::string_view meant) {
  const auto part = [](std::string_view a, std::string_view of, std::size_t least) {
    return a.size() >= least && of.find(a) != of.npos;
  };
  const std::size_t shorter = std::min(written.size(), meant.size());
  std::size_t alike = 0; // letters at the beginning
  while (alike < shorter && written[alike] == meant[alike]) ++alike;
  std::size_t best = distance(written, meant);
  if (best > 1 && 2 * best >= written.size()) best = written.size(); // half of it is no slip
  if (alike >= 2 && alike == shorter) best = std::min<std::size_t>(best, 1);
  if (part(written, meant, 3) || part(meant, written, 4)) best = std::min<std::size_t>(best, 2);
  if (alike >= 5 && 4 * alike >= 3 * shorter) best = std::min<std::size_t>(best, 2);
  return best;
}

} // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string written = bare(word);
  std::string best;
  // Farther away it is another word.
  std::size_t least = std::max(std::min<std::size_t>(3, written.size() / 2 + 1), written.size() / 4);
  for (const auto& c : candidates) {
    const std::string meant = bare(c);
    if (meant.empty() || written.empty()) continue;
    const std::size_t d = slips(written, meant);
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
