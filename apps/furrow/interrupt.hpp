// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>

namespace furrow::cli {

/// From here on Ctrl-C ends the process with 130 at once, and nothing half-written stays behind.
void watch_for_interrupts();

/// While one of these lives, the first Ctrl-C only raises a flag. The second one, or the first one that nobody has
/// noticed for 0.8 seconds (a solver that is still being set up), ends the process.
class polite_interrupts {
public:
  polite_interrupts();
  ~polite_interrupts();
  polite_interrupts(const polite_interrupts&) = delete;
  polite_interrupts& operator=(const polite_interrupts&) = delete;
};

/// An interrupt removes what the writers of furrow/io.hpp have beside `file` while it is not complete.
void clean_up_beside(const std::filesystem::path& file);

/// Whether Ctrl-C was pressed. Asking counts as noticing.
bool interrupted();

} // namespace furrow::cli
