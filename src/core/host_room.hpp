// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

namespace furrow {

/// Memory of the host that somebody wants to take. What is free is asked once, and only of who wants more than a
/// little: the answer takes 25 us, the first one of a process a quarter of a millisecond, and all that a solve does of
/// a hundred rows takes no more than that.
class host_room {
public:
  host_room() = default;
  host_room(double bytes) : bytes_(bytes) {} // NOLINT(google-explicit-constructor): so many bytes are room
  bool takes(double bytes) { return (!bytes_ && bytes <= little) || bytes <= this->bytes(); }
  double bytes(); ///< that were free when it was asked first

private:
  static constexpr double little = 1 << 24;
  std::optional<double> bytes_;
};

} // namespace furrow
