// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>

/// A `.furrow` file: little-endian, one page of header, then five sections, each at a multiple of 4096 bytes, with
/// zeros between them. The file ends with its last section.
///   0  text: name and origin, UTF-8        1  row: int32 a entry       2  col: int32 a entry
///   3  val: binary64 a entry               4  b: binary64 a row, or nothing
/// Entries are sorted by (row, col), without duplicates. A section's checksum is `checksum` (checksum.hpp) of the
/// checksums of its pieces of 2^20 bytes, so that pieces can be checked by threads of their own; the header's covers
/// the bytes of `cache_header` before it.
namespace furrow::io {

inline constexpr std::string_view cache_magic{"\x89"
                                              "FURROW\n",
                                              8};
inline constexpr std::uint32_t cache_version = 1;
inline constexpr std::uint64_t cache_page = 4096, cache_piece = std::uint64_t(1) << 20;

struct cache_section {
  std::uint64_t offset, bytes, sum;
};

struct cache_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes; ///< sizeof(cache_header)
  std::int64_t rows, cols, entries;
  std::int64_t name_bytes, origin_bytes;
  std::int64_t has_b; ///< 0 or 1
  cache_section section[5];
  std::uint64_t sum;
};
static_assert(sizeof(cache_header) == 192);

} // namespace furrow::io
