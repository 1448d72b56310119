// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Kernels of the GPU, played on the CPU: how, and what was seen.
namespace furrow::play {

/// In which order the warps of a block, and the blocks of a grid, take their turns: `random` draws anew at each
/// barrier.
enum class turns { ascending, descending, random };

struct settings {
  int wave = 32; ///< lanes that run together: 32 or 64
  turns order = turns::ascending;
  std::uint64_t seed = 1;
  index_t traced = 0; ///< steps of warp 0 of block 0 that are kept for a picture
};

/// What instructions of one kind did in one array; an instruction is one of a whole warp.
struct traffic {
  std::string array;
  bool shared = false, stores = false;
  int element_bytes = 0;
  index_t instructions = 0;
  index_t lanes = 0;     ///< that took part, summed up; the others were idle
  index_t bytes = 0;     ///< different ones that the lanes of an instruction asked for, summed up
  index_t lines = 0;     ///< of 128 bytes that they lie in, summed up; 0 in shared memory
  index_t conflicts = 0; ///< times that shared memory had to be asked again, because lanes wanted words of one bank
};

/// An instruction of the traced warp: the element that each lane touched, -1 where it was idle.
struct step {
  std::string array;
  bool shared = false, stores = false;
  int line = 0; ///< elements in 128 bytes
  std::vector<index_t> element;
};

struct kernel_report {
  std::string kernel;
  index_t blocks = 0;
  int threads = 0, wave = 0;
  index_t barriers = 0; ///< passed by a block
  index_t shuffles = 0; ///< by a group of lanes
  std::vector<traffic> arrays;
  std::vector<step> trace;
  /// What is wrong, a sentence each; the first of each kind.
  std::vector<std::string> faults;
  index_t all_faults = 0;
};

} // namespace furrow::play
