// SPDX-License-Identifier: BSD-3-Clause
#include "text.hpp"
#include "terminal.hpp"

#include "core/check.hpp"
#include "core/printable.hpp"
#include "io/write_all.hpp"

#include <fmt/format.h>
#include <sys/uio.h>

#include <cmath>
#include <cstring>

namespace furrow::cli {

std::string count_text(index_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > (n < 0 ? 4u : 3u);) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 6; ++unit) bytes /= 1000;
  if (unit == 0) return fmt::format("{:.0f} B", bytes);
  return fmt::format("{:.{}f} {}", bytes, bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, units[unit]);
}

std::string seconds_text(double s) {
  const auto digits = [](double x) { return x < 9.995 ? 2 : x < 99.95 ? 1 : 0; };
  if (s < 0.9995e-3) return fmt::format("{:.{}f} us", s * 1e6, digits(s * 1e6));
  if (s < 0.9995) return fmt::format("{:.{}f} ms", s * 1e3, digits(s * 1e3));
  if (s < 99.5) return fmt::format("{:.{}f} s", s, digits(s));
  const auto whole = static_cast<index_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

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

void print_beside(std::string_view output, std::string_view text) {
  if (output == "-") put_on_stderr(text);
  else print(text);
}

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
