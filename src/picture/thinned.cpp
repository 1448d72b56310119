// SPDX-License-Identifier: BSD-3-Clause
#include "thinned.hpp"

#include <algorithm>

namespace furrow::picture {

std::vector<std::size_t> thinned(const std::vector<double>& values, std::size_t stretches) {
  const std::size_t step = std::max<std::size_t>(1, (values.size() + stretches - 1) / stretches);
  std::vector<std::size_t> kept;
  for (std::size_t first = 0; first < values.size(); first += step) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    auto [least, most] =
        std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(std::min(step, values.size() - first)));
    if (most < least) std::swap(least, most);
    kept.push_back(static_cast<std::size_t>(least - values.begin()));
    if (most != least) kept.push_back(static_cast<std::size_t>(most - values.begin()));
  }
  if (!kept.empty() && kept.back() + 1 < values.size()) kept.push_back(values.size() - 1);
  return kept;
}

} // namespace furrow::picture
