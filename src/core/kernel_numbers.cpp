// SPDX-License-Identifier: BSD-3-Clause
#include "kernel_numbers.hpp"

#include "check.hpp"
#include "parameters.hpp"

#include <bit>
#include <charconv>
#include <limits>

namespace furrow {
namespace {

constexpr kernel_freedom all_free{true, true};

/// What a kernel takes, as the end of a sentence.
std::string way_out(std::string_view name, kernel_freedom free) {
  return free.lanes || free.block ? fmt::format("give {}", kernel_usage(name, free))
                                  : fmt::format("give {} alone", name);
}

int power_of_two(std::string_view kernel, std::string_view word, std::string_view text, int least, int most) {
  int value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(code == std::errc{} && stop == text.data() + text.size() && value >= least && value <= most &&
            std::has_single_bit(static_cast<unsigned>(value)),
        fault::usage, "kernel '{}': {}={} is no power of two from {} to {}: give one of these", kernel, word, text,
        least, most);
  return value;
}

} // namespace

std::string_view kernel_name(std::string_view kernel) { return take_apart(kernel).name; }

std::string kernel_usage(std::string_view name, kernel_freedom free) {
  if (!free.lanes && !free.block) return std::string(name);
  return fmt::format("{}[:{}{}{}]", name, free.lanes ? "lanes=L" : "", free.lanes && free.block ? "," : "",
                     free.block ? "block=B" : "");
}

kernel_numbers read_kernel_numbers(std::string_view kernel, kernel_freedom free, int warp) {
  const auto [name, text] = take_apart(kernel);
  kernel_numbers numbers;
  check(name.size() == kernel.size() || !text.empty(), fault::usage, "kernel '{}' ends with a colon: {}", kernel,
        way_out(name, free));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin), word = one.substr(0, one.find('='));
    const bool lanes = free.lanes && word == "lanes", block = free.block && word == "block";
    check((lanes || block) && word.size() < one.size(), fault::usage, "kernel '{}': it has no use for '{}': {}", kernel,
          one, way_out(name, free));
    int& number = lanes ? numbers.lanes : numbers.block;
    check(number == 0, fault::usage, "kernel '{}': {} comes twice: give it once", kernel, word);
    const std::string_view value = one.substr(word.size() + 1);
    number =
        lanes ? power_of_two(kernel, word, value, 2, warp) : power_of_two(kernel, word, value, least_block, most_block);
    check(end + 1 != text.size(), fault::usage, "kernel '{}' ends with a comma: {}", kernel, way_out(name, free));
    begin = end + 1;
  }
  return numbers;
}

kernel_numbers read_kernel_numbers(std::string_view kernel) {
  return read_kernel_numbers(kernel, all_free, std::numeric_limits<int>::max());
}

} // namespace furrow
