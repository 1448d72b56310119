// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.hpp"
#include "exit_code.hpp"

#include "io/atomic_file.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

namespace furrow::cli {
namespace {

enum class reacting { at_once, asking, finishing };
std::atomic<reacting> reaction = reacting::at_once;
std::atomic<int> came = 0; ///< the first signal
std::atomic<bool> quiet = false;
static_assert(std::atomic<reacting>::is_always_lock_free); // or a signal handler could not touch them

void wait_for_alarm(long microseconds) {
  itimerval timer{};
  timer.it_value.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

/// Only calls that are safe in a signal handler.
[[noreturn]] void leave(int) {
  static constexpr std::string_view farewell = "furrow: interrupted\n", erase = "\r\x1b[K";
  io::remove_unfinished();
  const int code = interrupt_code();
  if (quiet) _exit(code);
  if (isatty(STDERR_FILENO) && write(STDERR_FILENO, erase.data(), erase.size()) < 0) _exit(code);
  if (write(STDERR_FILENO, farewell.data(), farewell.size()) < 0) _exit(code);
  _exit(code);
}

void on_signal(int signal) {
  int none = 0;
  const bool first = came.compare_exchange_strong(none, signal);
  if (!first || reaction == reacting::at_once) leave(signal);
  if (reaction == reacting::asking) wait_for_alarm(800'000);
}

void handle(int signal, void (*how)(int)) {
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = how;
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

void watch_for_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) handle(signal, on_signal);
  handle(SIGALRM, leave);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

void leave_without_a_word() { quiet = true; }

void leave_signals_to_the_first() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, SIG_IGN);
}

polite_interrupts::polite_interrupts() { reaction = reacting::asking; }
polite_interrupts::~polite_interrupts() { reaction = reacting::at_once; }

void polite_interrupts::finish_first() {
  reaction = reacting::finishing;
  wait_for_alarm(0);
}

bool interrupted() {
  if (!came) return false;
  wait_for_alarm(0);
  return true;
}

int interrupt_code() { return came ? 128 + came : int(interrupt); }

} // namespace furrow::cli
