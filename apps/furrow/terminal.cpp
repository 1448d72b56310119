// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace furrow::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool has_colour(int file) { return isatty(file) && variable("NO_COLOR").empty() && variable("TERM") != "dumb"; }

std::string styled(std::string_view text, int code) {
  return stdout_has_colour() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

} // namespace

bool stderr_is_live() { return isatty(STDERR_FILENO) && variable("TERM") != "dumb"; }

int terminal_width() {
  winsize size{};
  for (const int file : {STDOUT_FILENO, STDERR_FILENO})
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool stdout_has_colour() {
  static const bool one = has_colour(STDOUT_FILENO);
  return one;
}
bool stderr_has_colour() {
  static const bool one = has_colour(STDERR_FILENO);
  return one;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = variable(name);
    if (!locale.empty()) return locale.find("UTF") != locale.npos || locale.find("utf") != locale.npos;
  }
  return true;
}

std::string bold(std::string_view text) { return styled(text, 1); }
std::string dim(std::string_view text) { return styled(text, 2); }
std::string good(std::string_view text) { return styled(text, 32); }
std::string bad(std::string_view text) { return styled(text, 31); }

} // namespace furrow::cli
