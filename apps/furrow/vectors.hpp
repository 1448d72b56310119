// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/io.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace furrow::cli {

/// The numbers in `file`, which `option` names: one for each of the `size` rows or columns, which `of` says. Throws
/// `fault::input` where there are more or fewer, or where one is too large for V.
template <class V>
host_array<V> read_vector_for(const std::string& file, std::string_view option, index_t size, std::string_view of);

/// The same for one or more of them, the columns of the file.
vector_columns read_vectors_for(const std::string& file, std::string_view option, index_t size, std::string_view of);

/// Writes x as the ending of `file` says (`write_vector`), in double.
template <class V> void write_answer(const host_array<V>& x, const std::string& file);

/// Endings in which vectors are written.
const std::vector<std::string>& vector_endings();

} // namespace furrow::cli
