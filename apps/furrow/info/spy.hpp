// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <string>

namespace furrow::cli {

/// A picture of the places of the entries in a frame, at most `columns` characters wide. Braille letters of 2 x 4 dots,
/// a dot wherever its part of the matrix has an entry; in ASCII a letter by how full its part is.
std::string spy(const coo<double>& a, int columns, bool ascii);

} // namespace furrow::cli
