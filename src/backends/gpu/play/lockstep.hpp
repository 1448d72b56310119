// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "memory.hpp"
#include "report.hpp"

#include <span>

namespace furrow::play {

/// A lane's access: by which instruction, to what.
struct access {
  const void* site;
  index_t element;
  std::int32_t array;
  bool stores;
};

/// Lanes are played one after the other, each up to where it meets the others; here their accesses become what the
/// lanes of a warp do together. The n-th access of an instruction since that meeting is one of all lanes that get so
/// far, the others are idle: so a loop takes as many turns as its longest lane.
class lockstep {
public:
  explicit lockstep(int wave) : wave_(wave) {}

  /// The accesses of a warp's lanes since the last call, `of[rank]` in its order, of which it keeps counts. Steps go to
  /// `trace` as well, while it has room for `traced` of them, unless it is null.
  void fold(std::span<const std::vector<access>> of, const memory& m, std::vector<step>* trace, index_t traced);

  /// By array, loads before stores, in the order in which they came.
  std::vector<traffic> counts() const { return counts_; }

private:
  int number_of(const access& a);
  void issue(const access& first, std::span<const index_t> element, const memory& m);
  traffic& counter(const access& a, const memory& m);

  struct instruction {
    const void* site;
    std::int32_t array;
    bool stores;
  };
  /// A lane on its way through its accesses: how many of each instruction it has done, of how many.
  struct cursor {
    std::size_t at = 0;
    std::vector<int> number; ///< of the instruction, of each access
    std::vector<std::uint32_t> done, total;
  };
  int wave_;
  std::vector<cursor> lanes_;
  std::vector<index_t> element_;
  std::vector<instruction> instructions_;
  std::vector<traffic> counts_;
  std::vector<int> counter_of_; ///< [2 array + stores], -1: none yet
};

} // namespace furrow::play
