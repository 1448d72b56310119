// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solve.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace furrow {

/// Tells the parts of a set-up apart.
class setup_clock {
public:
  /// What has passed since the end before belongs to `what`, too.
  void end(std::string_view what) {
    const auto now = std::chrono::steady_clock::now();
    const double passed = std::chrono::duration<double>(now - std::exchange(since_, now)).count();
    const auto known = std::ranges::find(parts_, what, &setup_part::what);
    if (known != parts_.end()) known->seconds += passed;
    else parts_.push_back({std::string(what), passed});
  }
  std::vector<setup_part> take() { return std::exchange(parts_, {}); }

private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::vector<setup_part> parts_;
};

} // namespace furrow
