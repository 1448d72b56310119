// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <span>

namespace furrow {

/// What many ratios say together.
struct ratio_summary {
  double geometric_mean = 0, worst = 0, best = 0; ///< of `count` ratios; 0 where there are none
  int count = 0;
};

/// exp(mean(log(ratio))) of those that are positive and finite; others do not count. The mean of ratios that treats
/// twice as fast and twice as slow alike.
inline ratio_summary summarize(std::span<const double> ratios) {
  ratio_summary s;
  double logs = 0;
  for (const double r : ratios) {
    if (!(r > 0) || !std::isfinite(r)) continue;
    logs += std::log(r);
    s.worst = s.count == 0 || r < s.worst ? r : s.worst;
    s.best = r > s.best ? r : s.best;
    ++s.count;
  }
  if (s.count) s.geometric_mean = std::exp(logs / s.count);
  return s;
}

} // namespace furrow
