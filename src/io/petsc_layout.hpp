// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

/// A binary file of PETSc, as MatView and VecView write it where PetscInt has 32 bits and PetscScalar is double:
/// numbers one behind the other, big-endian.
///   vector  int32 1211214, n;  binary64 a element
///   matrix  int32 1211216, rows, cols, entries;  int32 a row: how many entries it has;  int32 a entry: its column,
///   from
///           0 on;  binary64 a entry.  Entries -1: a dense one, binary64 for each position, by rows.
/// A file may hold several, such as a matrix and a right-hand side.
namespace furrow::io {

inline constexpr std::int32_t petsc_vector = 1211214, petsc_matrix = 1211216;

inline std::int32_t petsc_int(const char* p) {
  std::uint32_t bits;
  std::memcpy(&bits, p, sizeof bits);
  return std::bit_cast<std::int32_t>(__builtin_bswap32(bits));
}
inline double petsc_real(const char* p) {
  std::uint64_t bits;
  std::memcpy(&bits, p, sizeof bits);
  return std::bit_cast<double>(__builtin_bswap64(bits));
}
inline void put_petsc(char* p, std::int32_t n) {
  const std::uint32_t bits = __builtin_bswap32(std::bit_cast<std::uint32_t>(n));
  std::memcpy(p, &bits, sizeof bits);
}
inline void put_petsc(char* p, double v) {
  const std::uint64_t bits = __builtin_bswap64(std::bit_cast<std::uint64_t>(v));
  std::memcpy(p, &bits, sizeof bits);
}
static_assert(std::endian::native == std::endian::little);

/// Also of what is refused: class ids of other objects, and of 64 bits.
inline bool is_petsc(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  return first_bytes.starts_with("\0\x12\x7B"sv) || first_bytes.starts_with("\0\0\0\0\0\x12\x7B"sv);
}

} // namespace furrow::io
