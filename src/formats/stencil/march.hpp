// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

/// The plan of the `march` kernel. On a grid that is numbered line by line, plane by plane, the neighbours of a row lie
/// in its own plane and in the two beside it, at the same place but for a few lines: offset = p period + e, p = -1, 0
/// or 1, with a small |e|. (In two dimensions the planes are lines.) So a block that takes the same part of one plane
/// after the other needs one more window of x each time. Nothing else is asked of the grid: not how long its lines are,
/// nor whether the last plane is full.
namespace furrow {

/// Rows whose numbers differ by `period` lie in neighbouring planes; entries lie up to `halo` beside a plane.
struct planes_of_rows {
  index_t period = 0, halo = 0;
};

inline constexpr index_t most_halo = 1024;
inline constexpr index_t least_period = 256; ///< shorter planes leave threads without work

/// The plane, -1, 0 or 1, near which an entry lies; 2 where it is beside all of them.
constexpr int plane_of(index_t offset, const planes_of_rows& p) {
  const int plane = 2 * offset > p.period ? 1 : 2 * offset < -p.period ? -1 : 0;
  const index_t away = offset - plane * p.period;
  return -p.halo <= away && away <= p.halo ? plane : 2;
}

/// The period by which the offsets of a stencil lie nearest to planes: one of them, as a grid has the neighbour across.
/// The halo is what they need. A period of 0 where none has a halo of at most `most_halo`.
inline planes_of_rows find_planes(cview<std::int32_t> offset) {
  planes_of_rows best{0, most_halo + 1};
  for (const std::int32_t candidate : offset) {
    planes_of_rows p{std::abs(index_t(candidate)), most_halo};
    if (p.period < least_period) continue;
    index_t halo = 0;
    for (const std::int32_t o : offset) {
      const int plane = plane_of(o, p);
      halo = plane == 2 ? best.halo : std::max(halo, std::abs(o - plane * p.period));
      if (halo >= best.halo) break;
    }
    if (halo < best.halo) best = {p.period, halo};
  }
  return best.period ? best : planes_of_rows{};
}

/// The table by planes.
struct march_plan {
  planes_of_rows planes;
  /// Entry 3 n + j: where the entries of stencil n near plane j - 1 begin. 3 stencils + 4 of them: the last stencil has
  /// no entries, and stands for the rows beside the table. See `is_far`.
  host_array<std::int32_t> part;
  host_array<std::int32_t> away; ///< of each entry from its plane
  double rows_far = 0;           ///< share of the rows whose stencils are far
};

/// Whether a stencil has an entry that is near no plane, so that its rows read x where it lies. Its parts are empty,
/// and the second one begins below 0.
FURROW_HD inline bool is_far(const std::int32_t* part, int number) { return part[3 * number + 1] < 0; }

/// By the planes of the most frequent stencil, or by blocks of `rows` rows where it has none. The halo grows up to
/// `most_halo` where other stencils need it.
template <class V, class N> march_plan plan_march(const stencil<V, N, host_array>& a, index_t rows) {
  const int stencils = stencils_of(a);
  const auto of = [&](int n) { return part(as_cview(a.offset), a.start[n], a.start[n + 1] - a.start[n]); };
  march_plan plan;
  plan.planes = stencils ? find_planes(of(0)) : planes_of_rows{};
  if (plan.planes.period == 0) plan.planes = {rows, 0};
  planes_of_rows wide{plan.planes.period, std::min(most_halo, plan.planes.period / 2)};
  std::vector<char> far(static_cast<std::size_t>(stencils) + 1, 0);
  for (int n = 0; n < stencils; ++n) {
    index_t halo = plan.planes.halo;
    for (const std::int32_t o : of(n)) {
      const int plane = plane_of(o, wide);
      if (plane == 2) far[n] = 1;
      else halo = std::max(halo, std::abs(o - plane * wide.period));
    }
    if (!far[n]) plan.planes.halo = halo;
  }
  plan.part = host_array<std::int32_t>(3 * index_t(stencils) + 4);
  plan.away = host_array<std::int32_t>(a.offset.size());
  for (int n = 0; n < stencils; ++n) {
    std::array<std::int32_t, 3> count{};
    for (std::int32_t k = a.start[n]; k < a.start[n + 1]; ++k) {
      const int plane = plane_of(a.offset[k], wide);
      plan.away[k] = far[n] ? 0 : static_cast<std::int32_t>(a.offset[k] - plane * wide.period);
      if (!far[n]) ++count[static_cast<std::size_t>(plane + 1)];
    }
    plan.part[3 * n] = a.start[n];
    plan.part[3 * n + 1] = far[n] ? -1 : a.start[n] + count[0];
    plan.part[3 * n + 2] = far[n] ? -1 : a.start[n] + count[0] + count[1];
  }
  for (int j = 0; j < 4; ++j) plan.part[3 * index_t(stencils) + j] = a.start[stencils];
  index_t rows_far = 0;
  for (const N n : a.number) rows_far += far[n];
  plan.rows_far = a.shape.rows ? double(rows_far) / double(a.shape.rows) : 0;
  return plan;
}

/// How blocks share the rows: each takes `rows` neighbouring rows of `chunk` planes.
struct march_cut {
  index_t rows = 0, parts = 0; ///< of a plane
  index_t planes = 0, chunk = 0;
  FURROW_HD index_t units() const { return parts * ((planes + chunk - 1) / chunk); }
};

/// For a device that runs `resident` blocks at a time: one block each where that leaves them four planes and more, and
/// four where there are more parts than half of that.
inline march_cut cut_planes(index_t rows, index_t period, index_t most_rows, index_t resident) {
  march_cut cut;
  cut.parts = (period + most_rows - 1) / most_rows;
  cut.rows = (period + cut.parts - 1) / cut.parts;
  cut.planes = (rows + period - 1) / period;
  const index_t wanted = 2 * cut.parts > resident ? 4 * resident : resident;
  const index_t chunks = std::clamp<index_t>(wanted / cut.parts, 1, std::max<index_t>(cut.planes / 4, 1));
  cut.chunk = std::max<index_t>((cut.planes + chunks - 1) / chunks, 1);
  return cut;
}

} // namespace furrow
