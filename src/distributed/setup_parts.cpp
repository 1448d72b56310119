// SPDX-License-Identifier: BSD-3-Clause
#include "setup_parts.hpp"

#include "bytes.hpp"

#include <algorithm>
#include <array>

namespace furrow {
namespace {

/// What travels.
struct told_parts {
  static constexpr std::size_t most = 12, letters = 12;
  struct part {
    std::array<char, letters> what{};
    double seconds = 0;
  };
  double all = 0;
  std::size_t count = 0;
  std::array<part, most> parts{};
};

} // namespace

std::vector<setup_part> parts_of_slowest(communicator& c, double seconds, const std::vector<setup_part>& mine) {
  told_parts told;
  told.all = seconds;
  for (const setup_part& p : mine) {
    require(told.count < told_parts::most && p.what.size() < told_parts::letters, "a part of a set-up has room");
    auto& to = told.parts[told.count++];
    std::ranges::copy(p.what, to.what.begin());
    to.seconds = p.seconds;
  }
  const auto all = gather_each(c, told);
  const told_parts& slowest = *std::ranges::max_element(all, {}, &told_parts::all);
  std::vector<setup_part> parts;
  for (std::size_t k = 0; k < slowest.count; ++k)
    parts.push_back({slowest.parts[k].what.data(), slowest.parts[k].seconds});
  return parts;
}

} // namespace furrow
