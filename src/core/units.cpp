// SPDX-License-Identifier: BSD-3-Clause
#include "units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow {

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

} // namespace furrow
