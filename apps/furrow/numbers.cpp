// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace furrow::cli {
namespace {

/// All of `text` as a number, NaN and infinities among them; too small a one is 0, too large a one is infinite.
std::optional<double> number_in(const std::string& text) {
  const char* const begin = text.data() + plus_length(text);
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [stop, code] = std::from_chars(begin, end, value);
  if (stop != end || code == std::errc::invalid_argument) return {};
  return code == std::errc{} ? value : std::strtod(begin, nullptr);
}

/// What a check says of a finite number; empty where it passes.
using verdict = std::function<std::string(double)>;

CLI::Validator checked(const verdict& passes) {
  return {[passes](std::string& text) -> std::string {
            const auto value = number_in(text);
            if (!value || std::isnan(*value)) return fmt::format("'{}' is not a number", text);
            if (std::isinf(*value)) return fmt::format("must be finite, not {}", text);
            const std::string wrong = passes(*value);
            if (!wrong.empty()) return fmt::format("must be {}, not {}", wrong, text);
            text = fmt::format("{}", *value);
            return {};
          },
          ""};
}

} // namespace

std::size_t plus_length(std::string_view text) { return text.starts_with('+') && !text.starts_with("+-") ? 1 : 0; }

CLI::Validator whole(index_t least, index_t most) {
  return {[least, most](std::string& text) -> std::string {
            index_t value = 0;
            const char* const begin = text.data() + plus_length(text);
            const char* const end = text.data() + text.size();
            const auto [stop, code] = std::from_chars(begin, end, value);
            if (stop != end || code != std::errc{}) { // "1e6", or more digits than an index has
              constexpr double limit = 9.2e18;
              const auto real = number_in(text);
              if (!real || !(std::trunc(*real) == *real)) return fmt::format("'{}' is not a whole number", text);
              value = std::abs(*real) < limit ? static_cast<index_t>(*real)
                      : *real > 0             ? std::numeric_limits<index_t>::max()
                                              : std::numeric_limits<index_t>::min();
              if (std::abs(*real) >= limit && double(most) > limit) return fmt::format("{} is too large", text);
            }
            if (value < least) return fmt::format("must be at least {}, not {}", least, text);
            if (value > most) return fmt::format("must be at most {}, not {}", most, text);
            text = std::to_string(value);
            return {};
          },
          ""};
}

CLI::Validator real(double least, double most) {
  return checked([=](double v) {
    return v < least ? fmt::format("at least {}", least) : v > most ? fmt::format("at most {}", most) : "";
  });
}

CLI::Validator between(double low, double high) {
  return checked([=](double v) {
    return v <= low ? fmt::format("above {}", low) : v >= high ? fmt::format("below {}", high) : "";
  });
}

CLI::Validator from_to_below(double least, double high) {
  return checked([=](double v) {
    return v < least ? fmt::format("at least {}", least) : v >= high ? fmt::format("below {}", high) : "";
  });
}

} // namespace furrow::cli
