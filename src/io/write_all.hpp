// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <unistd.h>

namespace furrow::io {

/// Writes all bytes to a descriptor, also where it must be waited for; 0, or what errno says.
inline int write_all(int descriptor, const void* data, std::size_t bytes) noexcept {
  for (auto* p = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t done = ::write(descriptor, p, bytes);
    if (done >= 0) {
      p += done, bytes -= static_cast<std::size_t>(done);
    } else if (errno == EAGAIN) {
      pollfd until{descriptor, POLLOUT, 0};
      ::poll(&until, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

} // namespace furrow::io
