// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/io.hpp>

#include <functional>
#include <string>
#include <vector>

namespace furrow::io {

/// A vector as `read_vector` reads it, and the comments in the first 4 KB of its text, without their '%'.
struct commented_vector {
  host_array<double> values;
  std::vector<std::string> comments;
  bool more_comments = false; ///< there are others before its first number
};
/// `columns`: null for one; otherwise there may be several, and this is how many there were.
commented_vector read_commented_vector(const source& from, std::optional<index_t> rows = {},
                                       index_t* columns = nullptr);

/// Gets the numbers of a vector from `first` on.
using number_sink = std::function<void(index_t first, cview<double> numbers)>;

/// `read_vectors` for one vector that nobody keeps whole: `to` gets its numbers in their order, batch by batch of a few
/// hundred KB, while they are read. What is not read from front to back, lists of places and several columns, is in the
/// answer, which is empty otherwise. What is wrong may be said when some of the numbers are gone.
vector_columns read_vector_to(const source& from, std::optional<index_t> rows, const number_sink& to);

} // namespace furrow::io
