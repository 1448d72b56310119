// SPDX-License-Identifier: BSD-3-Clause
#include "overflow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

ending overflow(std::initializer_list<named_number> numbers, int ahead) {
  std::vector<std::string> lost;
  for (const named_number& n : numbers)
    if (!std::isfinite(n.value)) lost.emplace_back(n.name);
  if (lost.empty()) lost.emplace_back("the residual");
  const bool one = lost.size() == 1;
  std::string what =
      fmt::format("{} {}", fmt::join(lost, " and "), one ? "is not a finite number" : "are not finite numbers");
  return {status::nan, [what = std::move(what), ahead](const solver_messages::standing& s) {
            return fmt::format("iteration {}: {}: the numbers overflow{}; another solver or preconditioner may not",
                               s.iterations + ahead, what, s.single_precision ? " f32: take f64" : "");
          }};
}

} // namespace furrow
