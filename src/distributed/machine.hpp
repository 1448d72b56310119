// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>

#include <unistd.h>

namespace furrow {

/// What ranks of one machine have in common: its name, of 64 letters at most.
using machine_name = std::array<char, 72>;

inline machine_name name_of_machine() {
  machine_name name{};
  if (gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return name;
}

} // namespace furrow
