// SPDX-License-Identifier: BSD-3-Clause
#include "planes.hpp"

#include "stencils.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace furrow {
namespace {

/// The place of an entry, -1 where it has none.
template <class V> int place_of(const stencil_planes<V>& p, index_t offset) {
  for (int plane = -1; plane <= 1; ++plane)
    for (int line = -(p.lines / 2); line <= p.lines / 2; ++line) {
      const index_t left = offset - plane * index_t(p.plane) - line * index_t(p.line);
      if (std::abs(left) <= 1)
        return (plane + 1) * stencil_planes<V>::of_a_plane + 3 * (line + p.lines / 2) + static_cast<int>(left) + 1;
    }
  return -1;
}

/// Whether no two places are one, and all ascend.
template <class V> bool places_ascend(const stencil_planes<V>& p) {
  if (p.lines == 1) return p.plane >= 3;
  return p.line >= 3 && p.plane >= 2 * index_t(p.line) + 3;
}

/// The distances from the diagonal on either side, ascending, each once, without 0.
template <class V> std::vector<std::int32_t> distances(const host_stencil_table<V>& t) {
  std::vector<std::int32_t> d;
  for (std::int32_t k = t.start[0]; k < t.start[1]; ++k)
    if (t.offset[k] != 0) d.push_back(std::abs(t.offset[k]));
  std::sort(d.begin(), d.end());
  d.erase(std::unique(d.begin(), d.end()), d.end());
  return d;
}

template <class V> bool holds_first(const stencil_planes<V>& p, const host_stencil_table<V>& t) {
  return places_ascend(p) && std::all_of(t.offset.begin(), t.offset.begin() + t.start[1],
                                         [&](std::int32_t o) { return place_of(p, o) >= 0; });
}

/// Planes and lines of the first stencil. The widest gap between distances is that between two planes; a line is one
/// of the distances inside a plane.
template <class V> std::optional<stencil_planes<V>> planes_of_first(const host_stencil_table<V>& t, index_t least) {
  const auto d = distances(t);
  if (d.empty() || d.size() > stencil_planes<V>::places) return std::nullopt;
  std::size_t inside = 0; // so many are inside a plane
  for (std::size_t k = 1; k < d.size(); ++k)
    if (d[k] - d[k - 1] > d[inside] - (inside ? d[inside - 1] : 0)) inside = k;
  for (std::size_t k = inside; k < d.size(); ++k) {
    if (d[k] < least) continue;
    stencil_planes<V> p;
    p.plane = p.line = d[k];
    if (holds_first(p, t)) return p;
    p.lines = 3;
    for (std::size_t l = 0; l < inside; ++l) {
      p.line = d[l];
      if (holds_first(p, t)) return p;
    }
  }
  return std::nullopt;
}

/// The bits of a stencil, every place where they do not tell all.
template <class V>
std::uint32_t mask_of(const stencil_planes<V>& p, const host_stencil_table<V>& t, index_t s, std::uint32_t first) {
  using bits = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
  std::uint32_t mask = stencil_planes<V>::is_told;
  for (std::int32_t k = t.start[s]; k < t.start[s + 1]; ++k) {
    const int place = place_of(p, t.offset[k]);
    if (place < 0 || !(first >> place & 1) || (mask >> place & 1) ||
        std::bit_cast<bits>(p.val[place]) != std::bit_cast<bits>(t.val[k]))
      return stencil_planes<V>::every_place;
    mask |= std::uint32_t(1) << place;
  }
  return mask;
}

/// Bits of the places along the three directions.
std::uint32_t cross_of(int lines) {
  const int middle = lines == 1 ? 1 : 4;
  std::uint32_t bits = 1u << middle | 1u << (18 + middle);
  for (int j = 0; j < 3 * lines; ++j)
    if (lines == 1 || j / 3 == 1 || j % 3 == 1) bits |= 1u << (9 + j);
  return bits;
}

/// The signs of the values at each place of a plane, of those that a kernel for such stencils multiplies by.
template <class V> void find_signs(stencil_planes<V>& p) {
  const std::uint32_t cross = cross_of(p.lines);
  for (int j = 0; j < 3 * p.lines; ++j) {
    const bool minus = std::signbit(p.val[9 + j]);
    bool same = true;
    for (int place = j; place < stencil_planes<V>::places; place += stencil_planes<V>::of_a_plane)
      if (!p.cross || (cross >> place & 1)) same = same && std::signbit(p.val[place]) == minus;
    p.minus |= std::uint32_t(minus) << j;
    p.same |= std::uint32_t(same) << j;
  }
}

} // namespace

template <class V>
std::optional<stencil_planes<V>> find_planes(const host_stencil_table<V>& t, const std::vector<index_t>& uses,
                                             index_t rows, index_t least_plane) {
  const index_t stencils = t.start.size() - 1;
  if (stencils < 1 || stencils > stencil_planes<V>::most_stencils) return std::nullopt;
  auto p = planes_of_first(t, std::max<index_t>(least_plane, 3));
  if (!p) return std::nullopt;
  std::uint32_t first = 0;
  for (std::int32_t k = 0; k < t.start[1]; ++k) {
    if (!std::isfinite(t.val[k])) return std::nullopt;
    const int place = place_of(*p, t.offset[k]);
    if (first >> place & 1) return std::nullopt; // two entries at one place
    first |= std::uint32_t(1) << place;
    p->val[place] = t.val[k];
  }
  p->cross = (first & ~cross_of(p->lines)) == 0;
  find_signs(*p);
  index_t told = 0;
  p->all_told = true;
  std::fill(std::begin(p->mask), std::end(p->mask), stencil_planes<V>::every_place);
  for (index_t s = 0; s < stencils; ++s) {
    p->mask[s] = mask_of(*p, t, s, first);
    if (p->is_told_by_bits(s)) told += uses[static_cast<std::size_t>(s)];
    else p->all_told = false;
  }
  if (4 * told < 3 * rows) return std::nullopt;
  return p;
}

template std::optional<stencil_planes<double>> find_planes(const host_stencil_table<double>&,
                                                           const std::vector<index_t>&, index_t, index_t);
template std::optional<stencil_planes<float>> find_planes(const host_stencil_table<float>&, const std::vector<index_t>&,
                                                          index_t, index_t);

} // namespace furrow
