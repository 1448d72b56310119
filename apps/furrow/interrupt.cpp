// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.hpp"
#include "exit_code.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>

namespace furrow::cli {
namespace {

std::atomic<bool> polite = false, pressed = false;
static_assert(std::atomic<bool>::is_always_lock_free); // or a signal handler could not touch them

/// Names that a handler can unlink: written before the files exist.
constexpr std::size_t longest_name = 4096;
std::array<std::array<char, longest_name>, 8> unfinished{};
std::atomic<std::size_t> unfinished_count = 0;

void wait_for_alarm(long microseconds) {
  itimerval timer{};
  timer.it_value.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

/// Only calls that are safe in a signal handler.
void leave(int) {
  static constexpr std::string_view farewell = "furrow: interrupted\n", erase = "\r\x1b[K";
  for (std::size_t k = 0; k < unfinished_count; ++k) unlink(unfinished[k].data());
  if (isatty(STDERR_FILENO) && write(STDERR_FILENO, erase.data(), erase.size()) < 0) _exit(interrupt);
  if (write(STDERR_FILENO, farewell.data(), farewell.size()) < 0) _exit(interrupt);
  _exit(interrupt);
}

void on_interrupt(int signal) {
  if (!polite || pressed.exchange(true)) leave(signal);
  wait_for_alarm(800'000);
}

} // namespace

void watch_for_interrupts() {
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = leave;
  sigaction(SIGALRM, &action, nullptr);
}

void clean_up_beside(const std::filesystem::path& file) {
  for (int part = 0; part < 4; ++part) {
    const std::string name = file.string() + ".part-" + std::to_string(getpid()) + "-" + std::to_string(part);
    const std::size_t k = unfinished_count;
    if (k == unfinished.size() || name.size() >= longest_name) return;
    std::ranges::copy(name, unfinished[k].begin());
    unfinished_count = k + 1;
  }
}

polite_interrupts::polite_interrupts() { polite = true; }
polite_interrupts::~polite_interrupts() { polite = false; }

bool interrupted() {
  if (!pressed) return false;
  wait_for_alarm(0);
  return true;
}

} // namespace furrow::cli
