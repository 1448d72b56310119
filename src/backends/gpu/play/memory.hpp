// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace furrow::play {

/// Who touched an element, and when: `phase` counts the barriers that the thread's block has passed, `meeting` those of
/// its warp alone.
struct visit {
  std::int32_t block = -1, thread = 0;
  std::uint32_t phase = 0, meeting = 0;
  bool happened() const { return block >= 0; }
};

/// Finds pairs of accesses to one element that nothing orders, one of them a write: in one block without a barrier
/// between them, or in different blocks. Which of the two the machine plays first does not matter.
class shadow {
public:
  explicit shadow(index_t elements) : cells_(static_cast<std::size_t>(elements)) {}

  /// The earlier visit that this one races with, and whether that one wrote; `happened()` is false where there is none.
  struct race {
    visit other;
    bool wrote = false;
  };
  race read(index_t element, const visit& now, int wave);
  race write(index_t element, const visit& now, int wave);
  bool written(index_t element) const { return cells_[element].writer.happened(); }
  void forget() { std::fill(cells_.begin(), cells_.end(), cell{}); }

private:
  /// Two readers that nothing orders are enough: whoever writes is none of them, or not both.
  struct cell {
    visit writer, reader, other_reader;
  };
  std::vector<cell> cells_;
};

/// The arrays that a kernel may touch: those of the device, which the caller names, and those that blocks share.
class memory {
public:
  struct array {
    std::string name;
    std::uintptr_t begin = 0;
    index_t elements = 0;
    int element_bytes = 0;
    bool shared = false, writable = true;
    bool live = true; ///< of shared ones: declared by a thread of this block
    shadow seen;
  };

  void add(std::string name, const void* data, index_t elements, int element_bytes, bool writable);
  /// Room that the threads of a block share, from the first one that asks on; what it holds is the pattern 0xff.
  void* share(const char* name, index_t elements, int element_bytes);
  /// What blocks share ends with them, and who touched what with a kernel.
  void end_block();
  void begin_kernel();
  int count() const { return static_cast<int>(arrays_.size()); }

  struct place {
    int array = -1; ///< none: outside all of them
    index_t element = 0;
  };
  place find(const void* at);
  array& operator[](int k) { return arrays_[static_cast<std::size_t>(k)]; }
  const array& operator[](int k) const { return arrays_[static_cast<std::size_t>(k)]; }
  /// "y[3]"
  std::string name_of(const place& p) const;

private:
  static constexpr std::size_t shared_bytes = 256 << 10; ///< more than any device has for a block
  std::vector<array> arrays_;
  std::unique_ptr<std::byte[]> room_;
  std::size_t used_ = 0;
  int last_ = 0;
};

} // namespace furrow::play
