// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_input.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <algorithm>

namespace furrow::cli {

matrix_input::matrix_input(const std::string& file_or_spec) : text_(file_or_spec) {
  if (!means_generator(text_)) from_.emplace(text_);
  header_ = from_ ? read_header(*from_) : generator_header(text_);
}

double matrix_input::load_bytes() const {
  if (from_) return estimate_read_memory(*from_, header_);
  return 16 * double(header_.stored); // a generator fills the triplets directly
}

double matrix_input::load_bytes_on_ranks(double share) const {
  return estimate_load_on_ranks(from_ ? &*from_ : nullptr, header_, share);
}

part_of_problem matrix_input::load_on_ranks(communicator& c) const {
  return furrow::load_on_ranks(c, text_, from_ ? &*from_ : nullptr);
}

problem matrix_input::load() const { return from_ ? read_matrix(*from_) : generate(text_); }

void check_one_standard_input(std::initializer_list<std::string> files) {
  check(std::ranges::count(files, "-") < 2, fault::usage,
        "'-' is standard input, which can be read once: name a file for all inputs but one");
}

} // namespace furrow::cli
