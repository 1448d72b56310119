// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>

#include <string>

namespace furrow::gpu {

/// What stands against a way between the GPUs of ranks: sentences, empty where nothing does.
struct obstacles {
  std::string peer_memory, nccl;
};

struct chosen_way {
  gpu_way way = gpu_way::host; ///< not `best`
  std::string because;         ///< of the host: why it is the host
};

/// Peer memory before NCCL before the host, where nobody named one. Throws `fault::device`, with what stands against
/// it, where the one that was named cannot be had.
chosen_way choose_way(gpu_way wish, const obstacles& against);

} // namespace furrow::gpu
