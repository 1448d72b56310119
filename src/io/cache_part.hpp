// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cache_layout.hpp"
#include "input.hpp"

#include <string>
#include <vector>

/// A cache in parts, for readers of which each takes some bytes of a section, and all together every byte once.
namespace furrow::io {

enum class section_of_cache { text, row, col, val, b };

/// The header, once its own sums and sizes are right. Throws fault::input, "FILE: ...".
cache_header read_header_of_cache(const input& file);

/// Name and origin.
std::string read_text_of_cache(const input& file, const cache_header& h);

/// to <- bytes [first, last) of a section. Returns the checksums of the pieces that begin there, of which the last one
/// may reach beyond.
std::vector<std::uint64_t> read_part_of_section(const input& file, const cache_header& h, section_of_cache which,
                                                std::uint64_t first, std::uint64_t last, void* to);
/// How many such pieces there are.
index_t pieces_that_begin(std::uint64_t first, std::uint64_t last);

/// Throws fault::input where the sums of all pieces of a section are not those that the header tells of.
void check_sums_of_section(const input& file, const cache_header& h, section_of_cache which,
                           const std::vector<std::uint64_t>& sums);

} // namespace furrow::io
