// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "packed_systems.hpp"
#include "small_state.hpp"

#include <furrow/device.hpp>

#include <memory>

namespace furrow::small_systems {

/// What a device has for blocks of threads that share memory; zeros: nothing.
struct chip {
  int multiprocessors = 0;
  int block_bytes = 0;          ///< that a block can have for a system
  int multiprocessor_bytes = 0; ///< for all blocks that a multiprocessor runs at a time
};

/// The kernel for some systems of a batch.
struct launch_shape {
  method by = method::cg;
  bool inside = false; ///< the matrix lies in shared memory
  int threads = 0;     ///< a block
  int bytes = 0;       ///< of shared memory, a block
  friend bool operator==(const launch_shape&, const launch_shape&) = default;
};

/// Where teams of lanes work: a GPU. Tests have another one.
template <class V> struct engine {
  virtual ~engine() = default;
  /// Takes the systems there, in one go an array.
  virtual void take(const packed_systems<V>& systems) = 0;
  /// Blocks of such a launch that run at a time.
  virtual index_t resident(const launch_shape& shape) = 0;
  /// One launch: `active` systems make at most so many steps each; waits. `stop`: those that are not done then end.
  /// news: how far they are, in their order; records: step by step, of all of them in their order, as many steps as the
  /// one that made most.
  virtual void advance(const launch_shape& shape, cview<std::int32_t> active, int steps, bool stop, view<state> news,
                       view<record> records) = 0;
  /// The answers, as the systems lie in their vectors.
  virtual void answers(view<V> x) = 0;
};

/// Of a GPU; nothing in a build without its part. Throws `fault::device`.
chip chip_of(device where);
template <class V> std::unique_ptr<engine<V>> make_engine(device where);

} // namespace furrow::small_systems
