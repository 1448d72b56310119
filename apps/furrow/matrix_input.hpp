// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/io.hpp>
#include <furrow/load_on_ranks.hpp>

#include <optional>
#include <string>

namespace furrow::cli {

/// FILE: a generator, or what is read. That is opened once, so that the head of a pipe can be looked at before the
/// memory is taken that the rest of it needs.
class matrix_input {
public:
  explicit matrix_input(const std::string& file_or_spec);

  const matrix_header& header() const { return header_; }
  /// Peak bytes of `load`.
  double load_bytes() const;
  problem load() const;
  /// The same on ranks, each of which gets its rows: the bytes that those take together of which a share is on this
  /// machine, and of the first one the call that the others meet by `load_on_ranks`.
  double load_bytes_on_ranks(double share) const;
  part_of_problem load_on_ranks(communicator& c) const;

private:
  std::string text_;
  std::optional<source> from_; ///< empty: a generator
  matrix_header header_;
};

/// Throws `fault::usage` where more than one of `files` is standard input.
void check_one_standard_input(std::initializer_list<std::string> files);

} // namespace furrow::cli
