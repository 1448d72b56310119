// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"

#include <furrow/view.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

/// Vector registers as the loops of a dense product use them. All are meant to run inside `cpu::widest_registers`;
/// Bytes are those of a register.
namespace furrow::dense {

/// Bytes of neighbouring numbers: a register. (They are copied one by one: a copy of several goes through memory.)
template <int Bytes, class S> using pack [[gnu::vector_size(Bytes), gnu::may_alias]] = S;
template <int Bytes, class S> inline constexpr index_t in_pack = Bytes / index_t(sizeof(S));

/// Packs of a line that are read before the next line's, where several are read side by side: 512 bytes where there are
/// registers for it, or a cache line.
template <int Bytes> inline constexpr int packs_of_a_run = Bytes == 64 ? 8 : 2;
/// Of lines that are summed up, of which each has few running sums.
template <int Bytes> inline constexpr int packs_of_a_long_run = 2 * packs_of_a_run<Bytes>;
template <int Bytes> inline constexpr int packs_of_a_cache_line = std::min(64 / Bytes, packs_of_a_run<Bytes>);

/// Whether the lines that a task reads side by side are one of each part of its lines in place of neighbours: so many
/// streams then go on from line to line, where a processor that reads ahead loses its place at every jump. Lines have
/// no gaps between them and are up to a few pages long. far: they come from memory; in the caches it pays where long
/// runs do not, and not for the shortest.
inline bool read_in_parts(index_t leading, index_t n, index_t line_bytes, bool far) {
  constexpr index_t shortest = 192, longest = 16384;
  return leading == n && line_bytes <= longest && (far || (line_bytes >= shortest && !cpu::long_runs_help()));
}

/// body(first, apart) for every Count of `lines` lines, a multiple of Count, that are read side by side: line `first`
/// and those `apart`, 2 apart, 3 apart, ... behind it.
template <int Count, class F> FURROW_INLINE inline void for_each_few(index_t lines, bool in_parts, const F& body) {
  if (in_parts)
    for (index_t k = 0; k < lines / Count; ++k) body(k, lines / Count);
  else
    for (index_t k = 0; k < lines; k += Count) body(k, 1);
}

/// As many zeros as a pack has numbers, then as many numbers of which every bit is set, then zeros again.
template <class Bits, int Each> constexpr std::array<Bits, 3 * Each> zeros_ones_zeros() {
  std::array<Bits, 3 * Each> all{};
  for (int j = Each; j < 2 * Each; ++j) all[j] = Bits(-1);
  return all;
}

/// The pack at `from`, with zeros in place of all but its first n numbers, or, where n is negative, its last -n.
template <int Bytes, class S> FURROW_INLINE inline void load_part(pack<Bytes, S>& to, const S* from, index_t n) {
  using bits = std::conditional_t<sizeof(S) == 8, std::int64_t, std::int32_t>;
  constexpr index_t each = in_pack<Bytes, S>;
  static constexpr auto masks = zeros_ones_zeros<bits, int(each)>();
  pack<Bytes, bits> mask, numbers;
  std::memcpy(&mask, masks.data() + (n < 0 ? -n : 2 * each - n), Bytes);
  std::memcpy(&numbers, from, Bytes);
  numbers &= mask;
  std::memcpy(&to, &numbers, Bytes);
}

/// How many of `lines` lines of n < `each` elements, `leading` apart, have `each` elements before the last line ends.
constexpr index_t lines_before_a_pack_ends_behind(index_t lines, index_t leading, index_t n, index_t each) {
  return lines - (each - n + leading - 1) / leading;
}

inline constexpr int lane_bytes = 16; ///< parts of a register between which numbers move slowly

/// to = sums of two neighbours, lane by lane: those of a, then those of b.
template <int Bytes, class S, std::size_t... J>
FURROW_INLINE inline void add_neighbours(pack<Bytes, S>& to, const pack<Bytes, S>& a, const pack<Bytes, S>& b,
                                         std::index_sequence<J...> /*places of a pack*/) {
  constexpr int lane = lane_bytes / int(sizeof(S)), half = lane / 2, all = sizeof...(J);
  to = __builtin_shufflevector(a, b, int(J / lane * lane + J % half * 2 + J % lane / half * all)...) +
       __builtin_shufflevector(a, b, int(J / lane * lane + J % half * 2 + J % lane / half * all + 1)...);
}

/// to = the lower half of a and its upper half, added up.
template <int Bytes, class S, std::size_t... J>
FURROW_INLINE inline void add_halves(pack<Bytes / 2, S>& to, const pack<Bytes, S>& a,
                                     std::index_sequence<J...> /*places of a half*/) {
  to = __builtin_shufflevector(a, a, int(J)...) + __builtin_shufflevector(a, a, int(J + sizeof...(J))...);
}

/// body(std::integral_constant<int, B>{}) for the bytes B of the narrowest register up to Bytes that holds n numbers.
template <int Bytes, class S, class F> FURROW_INLINE inline auto in_narrowest_register(index_t n, const F& body) {
  if constexpr (Bytes > lane_bytes)
    if (n <= in_pack<Bytes / 2, S>) return in_narrowest_register<Bytes / 2, S>(n, body);
  return body(std::integral_constant<int, Bytes>{});
}

/// out = the sum of the lanes.
template <int Bytes, class S> FURROW_INLINE inline void add_lanes(const pack<Bytes, S>& a, S* out) {
  if constexpr (Bytes == lane_bytes) std::memcpy(out, &a, lane_bytes);
  else {
    pack<Bytes / 2, S> half;
    add_halves<Bytes, S>(half, a, std::make_index_sequence<in_pack<Bytes / 2, S>>{});
    add_lanes<Bytes / 2, S>(half, out);
  }
}

/// out = the sums of the numbers of a, b, c and d. Four packs at a time take a third of the steps of one by one.
template <int Bytes, class S>
FURROW_INLINE inline void four_totals(const pack<Bytes, S>& a, const pack<Bytes, S>& b, const pack<Bytes, S>& c,
                                      const pack<Bytes, S>& d, S* out) {
  constexpr auto places = std::make_index_sequence<in_pack<Bytes, S>>{};
  pack<Bytes, S> low, high;
  add_neighbours<Bytes, S>(low, a, b, places);
  add_neighbours<Bytes, S>(high, c, d, places);
  if constexpr (sizeof(S) == 8) {
    add_lanes<Bytes, S>(low, out);
    add_lanes<Bytes, S>(high, out + 2);
  } else {
    add_neighbours<Bytes, S>(low, low, high, places);
    add_lanes<Bytes, S>(low, out);
  }
}

/// The sum of the numbers of a.
template <int Bytes, class S> FURROW_INLINE inline S one_total(const pack<Bytes, S>& a) {
  constexpr index_t lane = lane_bytes / index_t(sizeof(S));
  S part[lane];
  add_lanes<Bytes, S>(a, part);
  if constexpr (lane == 4) return (part[0] + part[1]) + (part[2] + part[3]);
  else return part[0] + part[1];
}

} // namespace furrow::dense
