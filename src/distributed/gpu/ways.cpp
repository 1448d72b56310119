// SPDX-License-Identifier: BSD-3-Clause
#include "ways.hpp"

#include "core/check.hpp"

namespace furrow::gpu {

chosen_way choose_way(gpu_way wish, const obstacles& against) {
  const auto& [peer_memory, nccl] = against;
  switch (wish) {
  case gpu_way::host:
    return {gpu_way::host, "as asked for"};
  case gpu_way::peer_memory:
    check(peer_memory.empty(), fault::device, "the ranks cannot talk through peer memory: {}: take nccl or host",
          peer_memory);
    return {wish, ""};
  case gpu_way::nccl:
    check(nccl.empty(), fault::device, "the ranks cannot talk through NCCL: {}", nccl);
    return {wish, ""};
  case gpu_way::best:
    break;
  }
  if (peer_memory.empty()) return {gpu_way::peer_memory, ""};
  if (nccl.empty()) return {gpu_way::nccl, ""};
  return {gpu_way::host, peer_memory == nccl ? nccl : peer_memory + "; " + nccl};
}

} // namespace furrow::gpu
