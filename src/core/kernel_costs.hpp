// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

namespace furrow {

/// What a product by one kernel costs, as a sum: each number times what stands beside it. Fitted to measurements
/// (docs/choosing.md), in the costs.hpp of each format.
struct kernel_costs {
  double start = 0;      ///< times the latency of the machine
  double memory = 0;     ///< times bytes_per_apply over the rate of the memory, or of the cache where they fit it
  double by_row = 0;     ///< times the sectors of x by row (`locality`) over the rate of the cache
  double by_slice = 0;   ///< times those by slice
  double by_window = 0;  ///< times those by window
  double rows = 0;       ///< nanoseconds a row and processor
  double places = 0;     ///< nanoseconds a stored value and processor
  double uneven = 0;     ///< nanoseconds a row, processor and entry that rows deviate from their mean length
  double surprising = 0; ///< nanoseconds a row, processor and share of rows whose length is not foreseen
  double longest = 0;    ///< nanoseconds an entry of the longest row (`longest_run`)
  double beyond = 0;     ///< times bytes_per_apply over the rate of the memory, where they do not fit the last cache
  double learned = 0;    ///< rows whose lengths a branch predictor knows by heart after some products
  const kernel_costs* on_amd = nullptr; ///< on a CPU that is not by Intel; null: the same
};

} // namespace furrow
