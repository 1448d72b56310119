// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "checksum.hpp"
#include "input.hpp"

#include <furrow/checkpoint.hpp>

#include <string>
#include <string_view>

namespace furrow::io {

/// What stands in the file before x, whose numbers have this sum.
std::string head_of_checkpoint(const checkpoint& now, const checksum_of_words& of_x);

/// Throws `fault::input` where a file has this name that is no checkpoint, which one would replace; one without a byte
/// is none's loss. `fault::usage` where it is the name of what cannot be replaced, a pipe or a device.
void refuse_to_replace(const std::filesystem::path& file);

/// Whether a file begins as a checkpoint does.
bool is_checkpoint(std::string_view first);

/// A checkpoint that is read from its front to its back. Throws as `read_checkpoint`.
class checkpoint_reader {
public:
  explicit checkpoint_reader(const input& from); ///< which outlives it

  const checkpoint& head() const { return head_; } ///< without x, which has `head().system.cols` numbers
  void read(view<double> next);                    ///< numbers of x
  void check_sum() const;                          ///< once all of x is read

private:
  const input& from_;
  checkpoint head_;
  std::uint64_t sum_ = 0; ///< of x, as the file says it
  checksum_of_words of_x_;
  index_t at_ = 0; ///< where the next bytes are
};

} // namespace furrow::io
