// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace furrow {

/// What the system says of its processor.
struct processor {
  std::string name;
  std::vector<std::pair<std::string, double>> caches; ///< "L1d", bytes; of one instance each
};
processor inspect_processor();

/// Bytes of memory of this machine, or what the limits of this process leave of it.
double total_memory();

/// The largest resident memory of this process so far.
double peak_bytes();

} // namespace furrow
