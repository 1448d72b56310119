// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

/// What of a multiprocessor the blocks of a kernel take.
namespace furrow::gpu {

/// Bytes that threads share: most that a block can ask for, and what its multiprocessor has for all of them.
struct shared_memory {
  int of_a_block = 0, of_a_multiprocessor = 0;
};
inline shared_memory shared_memory_of(const queue& q) {
  shared_memory m;
  check(runtime::ask(runtime::property::block_shared_bytes, q.ordinal, &m.of_a_block));
  check(runtime::ask(runtime::property::shared_bytes, q.ordinal, &m.of_a_multiprocessor));
  return m;
}

/// Lets a block of the kernel have so many of them, in the whole process from here on.
template <class Kernel> void allow_shared_memory(Kernel kernel, int bytes) {
  check(runtime::allow_shared_bytes(kernel, bytes));
}

/// Blocks of the kernel that a multiprocessor runs at a time.
template <class Kernel> int resident_blocks(Kernel kernel, int threads, int bytes = 0) {
  int blocks = 0;
  check(runtime::resident_blocks(&blocks, kernel, threads, static_cast<std::size_t>(bytes)));
  return blocks;
}

} // namespace furrow::gpu
