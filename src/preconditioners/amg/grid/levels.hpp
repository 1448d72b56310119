// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "box_layout.hpp"
#include "preconditioners/amg/dense.hpp"
#include "preconditioners/amg/levels.hpp"
#include "survey.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// The hierarchy of a matrix of a box, whoever does the work: the host or a GPU.
namespace furrow::amg {

/// That a dense inverse is made of, unless A itself is small: it costs their third power.
inline constexpr index_t few_rows = 150;
inline constexpr double strong_direction = 0.3; ///< of the strongest one's entries

/// The directions to be halved.
inline std::array<bool, 3> strong_directions(const box& b, const grid_survey& facts) {
  double most = 0;
  for (int axis = 0; axis < 3; ++axis)
    if (b.points[axis] > 1) most = std::max(most, facts.along[axis]);
  std::array<bool, 3> strong{};
  for (int axis = 0; axis < 3; ++axis)
    strong[axis] = most > 0 && b.points[axis] > 1 && facts.along[axis] >= strong_direction * most;
  return strong;
}

template <class W, template <class> class Array> double bytes_of(const level<W, Array>& l) {
  double bytes = byte_count(l.diagonals) + double(l.inverse.byte_count()) + 5.0 * sizeof(W) * double(l.size());
  for (const auto& t : l.axes) bytes += double(t.lower.byte_count() + t.upper.byte_count());
  for (std::size_t k = 0; k + 1 < l.axes.size(); ++k) bytes += sizeof(W) * double(l.axes[k].coarse().size());
  return bytes;
}

/// Levels until at most 150 rows are left, 512 where that is all of A, or none is coupled. The kit holds the matrix of
/// the level under way:
/// layout()            where it lies
/// survey()            of it
/// dense_inverse<W>(t) of all of it times the scale t, row by row; empty where it is not positive semidefinite
/// keep(level, scale)  gives a level A times the scale and D^-1 by it, in its precision
/// bound(gershgorin)   of the spectrum of D^-1 A
/// halve<W>(axis)      P along a direction, in that precision; P'A P is the matrix from here on
template <class W, template <class> class Array, class Kit> hierarchy<W, Array> build_grid(Kit& kit) {
  hierarchy<W, Array> h;
  for (;;) {
    const double began = seconds_now();
    const grid_survey facts = kit.survey();
    if (h.levels.empty()) h.scale = facts.diagonal.scale();
    const index_t rows = kit.layout().rows(), entries = kit.layout().entries();
    level<W, Array> l;
    l.a.shape = {rows, rows};
    const bool small = rows <= (h.levels.empty() ? most_dense_rows : few_rows);
    if (small) {
      auto inverse = kit.template dense_inverse<W>(h.scale);
      if (!inverse) refuse_indefinite(h.levels.size());
      h.coarsest = std::move(*inverse);
      h.reason = ends_dense(rows);
    } else {
      if (!facts.diagonal.are_positive()) refuse_indefinite(h.levels.size());
      kit.keep(l, h.scale);
      l.lambda = kit.bound(facts.gershgorin);
      const auto strong = strong_directions(kit.layout().points(), facts);
      for (int axis = 0; axis < 3; ++axis)
        if (strong[axis]) l.axes.push_back(kit.template halve<W>(axis));
      if (l.axes.empty()) h.reason = ends_uncoupled(rows);
      else l.r.shape = {kit.layout().rows(), rows}, l.p.shape = {rows, kit.layout().rows()};
    }
    h.facts.push_back(
        {rows, entries, bytes_of(l) + double(small ? h.coarsest.byte_count() : 0), seconds_now() - began});
    h.levels.push_back(std::move(l));
    if (h.levels.back().last()) return h;
  }
}

} // namespace furrow::amg
