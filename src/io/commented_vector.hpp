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
/// `columns`: null for one; otherwise there may be several, and this is how many there were.
commented_vector read_commented_vector(const source& from, std::optional<index_t> rows = {},
                                       index_t* columns = nullptr);

} // namespace furrow::io
