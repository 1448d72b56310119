// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "numbers.hpp"

#include "core/check.hpp"

#include <charconv>
#include <cmath>

namespace furrow::cli::cheb_command {

void add_interval(CLI::App& app, std::string& on) {
  app.add_option("--on", on, "the interval (default -1,1)")->type_name("LO,HI");
}

std::vector<double> parse_numbers(const std::string& text, const std::string& name) {
  std::vector<double> numbers;
  std::size_t first = 0;
  while (true) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    const std::string_view word = std::string_view(text).substr(first, end - first);
    double value = 0;
    const char* const stop = text.data() + end;
    const auto read = std::from_chars(word.data() + plus_length(word), stop, value);
    check(read.ec == std::errc() && read.ptr == stop && std::isfinite(value), fault::usage,
          "{}: '{}' is not a finite number", name, word);
    numbers.push_back(value);
    if (end == text.size()) return numbers;
    first = end + 1;
  }
}

chebyshev::interval parse_ends(const std::string& text) {
  const auto ends = parse_numbers(text, "--on");
  check(ends.size() == 2, fault::usage, "--on: '{}' is no interval: write LO,HI, as in --on -1,1", text);
  return {ends[0], ends[1]};
}

chebyshev::interval parse_interval(const std::string& text) {
  const chebyshev::interval on = parse_ends(text);
  chebyshev::check_interval(on);
  return on;
}

} // namespace furrow::cli::cheb_command
