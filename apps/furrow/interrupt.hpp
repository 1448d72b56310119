// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow::cli {

/// From here on Ctrl-C (SIGINT), SIGTERM and SIGHUP end the process at once with 128 + signal, and nothing half-written
/// stays behind. One that the caller ignores, as `nohup` does, stays ignored. A pipe that nobody reads and a limit of
/// file sizes are failures of a write, not the end of the process.
void watch_for_signals();

/// While one of these lives, the first such signal only raises a flag. The second one, or the first one that nobody has
/// noticed for 0.8 seconds (a solver that is still being set up), ends the process.
class polite_interrupts {
public:
  polite_interrupts();
  ~polite_interrupts();
  polite_interrupts(const polite_interrupts&) = delete;
  polite_interrupts& operator=(const polite_interrupts&) = delete;

  /// From here on what is under way is worth its end: the first signal only raises a flag, however long nobody asks.
  void finish_first();
};

/// For a process that solves with others, of which the first decides: signals that ask it to end do nothing from here
/// on.
void leave_signals_to_the_first();
/// For a rank after the first: what ends it says nothing.
void leave_without_a_word();

/// Whether such a signal came. Asking counts as noticing.
bool interrupted();

/// 128 + the signal that came; 130 where none did.
int interrupt_code();

} // namespace furrow::cli
