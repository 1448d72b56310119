// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solve.hpp>

#include <chrono>
#include <string_view>
#include <utility>

namespace furrow {

/// Tells the parts of a set-up apart.
class setup_clock {
public:
  /// What has passed since the end before belongs to `what`.
  void end(std::string_view what) {
    const auto now = std::chrono::steady_clock::now();
    parts_.push_back({std::string(what), std::chrono::duration<double>(now - since_).count()});
    since_ = now;
  }
  std::vector<setup_part> take() { return std::exchange(parts_, {}); }

private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::vector<setup_part> parts_;
};

} // namespace furrow
