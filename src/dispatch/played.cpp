// SPDX-License-Identifier: BSD-3-Clause
#include "formats/played.hpp"

#include "core/check.hpp"
#include "core/kernel_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace furrow {
#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_format {                                                                                            \
    extern const play::played_format played;                                                                           \
  }
#include "played.inc"
#undef FURROW_ENTRY

namespace play {
namespace {

constexpr const played_format* all[] = {
#define FURROW_ENTRY(name) &name##_format::played,
#include "played.inc"
#undef FURROW_ENTRY
};

std::string kernels_of(const played_format& f) { return fmt::format("{} ({})", f.format, fmt::join(f.kernels, ", ")); }

} // namespace

std::span<const played_format* const> played_formats() { return all; }

played_choice find_played(std::string_view format, std::string_view kernel) {
  const auto known = [&] {
    std::vector<std::string> words;
    for (const auto* f : all) words.push_back(kernels_of(*f));
    return fmt::format("{}", fmt::join(words, ", "));
  };
  const std::string_view wanted = format == "auto" ? "csr" : format;
  const auto* const at = std::ranges::find(all, wanted, &played_format::format);
  check(at != std::end(all), fault::usage, "format {} has no classic kernel to play: choose one of {}", format,
        known());
  const played_format& f = **at;
  if (kernel == "auto") return {&f, f.kernels.front()};
  const std::string_view name = kernel_name(kernel);
  check(std::ranges::find(f.kernels, name) != f.kernels.end(), fault::usage,
        "kernel {} of format {} is not a classic one, and only those are played: choose one of {}", name, f.format,
        known());
  constexpr int widest = 64; // lanes of a warp that can be played
  for (const auto& k : find_format(f.format).gpu.kernels)
    if (k.name == name) read_kernel_numbers(kernel, k.free, widest);
  return {&f, kernel};
}

} // namespace play
} // namespace furrow
