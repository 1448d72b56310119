// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/io.hpp>

#include <string>
#include <vector>

namespace furrow::io {

/// A vector as `read_vector` reads it, and the comments before its first number, without their '%'.
struct commented_vector {
  host_array<double> values;
  std::vector<std::string> comments;
};
commented_vector read_commented_vector(const source& from, std::optional<index_t> rows = {});

} // namespace furrow::io
