// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

#include <limits>
#include <map>

namespace furrow {

/// Bytes a second at which `where` reads an array of `bytes` again and again: the yardstick of every kernel that moves
/// as much. Out of the caches where they hold it, otherwise out of memory; no array is larger than that takes, nor than
/// a quarter of the memory that can be had. The median of several passes. Takes at most 0.2 s.
double measure_read_ceiling(device where, double bytes = std::numeric_limits<double>::infinity());

/// Ceilings of products by the bytes that they move. Sizes within an eighth of an octave share a measurement.
class read_ceilings {
public:
  /// Without `wanted` nothing is measured and every ceiling is NaN.
  explicit read_ceilings(device where, bool wanted = true) : where_(where), wanted_(wanted) {}

  double of(double bytes);
  double of_memory() { return of(std::numeric_limits<double>::infinity()); }

private:
  device where_;
  bool wanted_;
  std::map<int, double> measured_;
};

/// The bytes beyond which every array is read from memory: no larger one is measured.
double largest_ceiling_array(device where);

#if FURROW_HAS_GPU
namespace gpu {
/// The same on the selected GPU.
double measure_read_ceiling(double bytes);
/// What the selected GPU says of itself.
machine typical_machine();
} // namespace gpu
#endif

} // namespace furrow
