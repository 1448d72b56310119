// SPDX-License-Identifier: BSD-3-Clause
#include "identity.hpp"
#include "link.hpp"
#include "ways.hpp"

#include "distributed/bytes.hpp"
#include "distributed/machine.hpp"
#include "distributed/together.hpp"

#include <algorithm>
#include <utility>

namespace furrow {

gpu_identity identity_of_gpu(int ordinal) {
  gpu_identity name{};
  gpu::check(gpu::runtime::place_on_bus(name.data(), int(name.size()), ordinal));
  return name;
}

namespace gpu {
namespace {

/// Why NCCL does not serve these ranks; empty where it does. The same on all of them.
std::string obstacle_of_nccl(communicator& c) {
  struct seat {
    machine_name machine = name_of_machine();
    gpu_identity on{};
    bool operator==(const seat&) const = default;
  } mine;
  together(c, [&] { mine.on = identity_of_gpu(c.where().ordinal); });
  const auto all = gather_each(c, mine);
  const auto shared = [&](const seat& s) { return std::count(all.begin(), all.end(), s) > 1; };
  const auto first = std::find_if(all.begin(), all.end(), shared);
  const auto numbers = gather_each(c, c.where().ordinal);
  if (first != all.end())
    return "gpu:" + std::to_string(numbers[std::size_t(first - all.begin())]) + " has several ranks";
  const nccl::search& s = nccl::searched();
  return first_sentence(c, s.found ? std::string() : nccl::sentence(s));
}

} // namespace

std::unique_ptr<link> open_link(communicator& c) {
  const gpu_way wish = gather_each(c, c.through()).front();
  obstacles against;
  std::shared_ptr<peers> group;
  if (wish == gpu_way::best || wish == gpu_way::peer_memory) group = find_peers(c, against.peer_memory);
  if (wish == gpu_way::nccl || (wish == gpu_way::best && !group)) against.nccl = obstacle_of_nccl(c);
  chosen_way chosen;
  together(c, [&] { chosen = choose_way(wish, against); });
  constexpr std::chrono::milliseconds patience{std::chrono::seconds(int(peers::patience))};
  if (chosen.way == gpu_way::peer_memory) return link_peers(c, std::move(group));
  if (chosen.way == gpu_way::nccl) return link_by_nccl(c, *nccl::searched().found, patience);
  return link_through_host(c, std::move(chosen.because));
}

} // namespace gpu
} // namespace furrow
