// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace furrow {

/// A library that Furrow runs with.
struct library {
  std::string name, version, purpose;
};
std::vector<library> libraries();

/// "avx512", "avx2" or "baseline": the instruction set that the CPU kernels run with here.
std::string instruction_set();

} // namespace furrow
