// SPDX-License-Identifier: BSD-3-Clause
#include "text.hpp"
#include "terminal.hpp"

#include "core/check.hpp"
#include "core/printable.hpp"
#include "io/write_all.hpp"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace furrow::cli {

std::string share_text(double share) { return std::isnan(share) ? "" : fmt::format("{:.0f} %", 100 * share); }

std::string ceiling_text(double bytes_a_second) {
  return std::isnan(bytes_a_second) ? "" : fmt::format("; reads {:.1f} GB/s at best", 1e-9 * bytes_a_second);
}

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("  {}  {}\n", dim(fmt::format("{:<10}", label)), text);
}

namespace {
bool printed = false;
}

bool something_is_printed() { return printed; }

void print(std::string_view text) {
  printed = true;
  const int why = io::write_all(STDOUT_FILENO, text.data(), text.size());
  check(why == 0, fault::input, "standard output cannot be written: {}", std::strerror(why));
}

void print_beside(std::initializer_list<std::string_view> outputs, std::string_view text) {
  if (std::ranges::find(outputs, "-") != outputs.end()) put_on_stderr(text);
  else print(text);
}

std::string place_text(std::string_view output) { return output == "-" ? "standard output" : printable(output); }

void remark(std::string_view text, std::string_view more) noexcept {
  std::string fit;
  try {
    fit = printable(fmt::format("{}{}", text, more));
    text = fit, more = {};
  } catch (...) { // without memory it is said as it is
  }
  const auto piece = [](std::string_view of) { return iovec{const_cast<char*>(of.data()), of.size()}; };
  const iovec pieces[] = {piece("furrow: "), piece(text), piece(more), piece("\n")};
  int failed; // in one call: others may write there too
  do failed = ::writev(STDERR_FILENO, pieces, 4) < 0 ? errno : 0;
  while (failed == EINTR);
}

void put_on_stderr(std::string_view text) noexcept { io::write_all(STDERR_FILENO, text.data(), text.size()); }

} // namespace furrow::cli
