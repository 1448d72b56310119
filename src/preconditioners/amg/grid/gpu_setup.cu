// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_setup.hpp"

#include "coarsen.hpp"
#include "levels.hpp"
#include "setup.hpp"

#include "formats/padded.hpp"
#include "preconditioners/amg/gpu_lanczos.hpp"
#include "preconditioners/amg/gpu_rounding.hpp"
#include "preconditioners/amg/gpu_setup.hpp"

#include <furrow/storage.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace furrow::amg {
namespace gpu_grid {

/// The points of a box, for a kernel: below 2^31 of them.
struct extents {
  unsigned n[3];
  explicit extents(const box& b) {
    for (int axis = 0; axis < 3; ++axis) n[axis] = static_cast<unsigned>(b.points[axis]);
  }
  FURROW_HD unsigned at(const unsigned (&p)[3]) const { return p[0] + n[0] * (p[1] + n[1] * p[2]); }
  FURROW_HD unsigned stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1]; }
  FURROW_HD void point(unsigned i, unsigned (&p)[3]) const {
    p[0] = i % n[0];
    p[1] = i / n[0] % n[1];
    p[2] = i / n[0] / n[1];
  }
  /// Whether a step from there stays.
  FURROW_HD bool holds(const unsigned (&p)[3], int place) const {
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis) {
      const int step = place::step(place, axis);
      inside = inside && !(step < 0 && p[axis] == 0) && !(step > 0 && p[axis] + 1 == n[axis]);
    }
    return inside;
  }
};

// Where the diagonals lie.

/// Of each diagonal its offset and its place; ascending.
struct known_places {
  int count = 0;
  std::int32_t offset[place::count];
  int place[place::count];
};

template <class V> struct find_leaving {
  rows<V, cview> a;
  extents box;
  known_places known;
  unsigned long long* first;
  FURROW_HD void operator()(index_t i) const {
    unsigned p[3];
    box.point(static_cast<unsigned>(i), p);
    bool inner = true;
    for (int axis = 0; axis < 3; ++axis)
      inner = inner && (box.n[axis] == 1 || (p[axis] > 0 && p[axis] + 1 < box.n[axis]));
    if (inner) return;
    int d = 0;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      while (known.offset[d] < a.col[k] - i) ++d;
      if (a.val[k] == V(0) || box.holds(p, known.place[d])) continue;
#if defined(__CUDA_ARCH__)
      atomicMin(first, static_cast<unsigned long long>(i));
#endif
      return;
    }
  }
};

/// The column of the first entry of a row that leaves the box. Waits.
template <class V>
index_t leaving_column(const rows<V, cview>& a, const extents& box, const known_places& known, index_t i) {
  unsigned p[3];
  box.point(static_cast<unsigned>(i), p);
  int d = 0;
  for (index_t k = gpu::fetch(a.row_ptr.data + i);; ++k) {
    const index_t col = gpu::fetch(a.col.data + k);
    while (known.offset[d] < col - i) ++d;
    if (gpu::fetch(a.val.data + k) != V(0) && !box.holds(p, known.place[d])) return col;
  }
}

template <class V>
std::pair<index_t, index_t> leaving(const rows<V, cview>& a, const std::vector<std::int32_t>& offsets, const box& b) {
  known_places known;
  for (const std::int32_t offset : offsets) {
    known.offset[known.count] = offset;
    known.place[known.count++] = *place_of(offset, b);
  }
  gpu_array<unsigned long long> first(1);
  gpu::fill_bytes(first, 0xff);
  gpu::for_each(a.shape.rows, find_leaving<V>{a, extents(b), known, first.data()});
  const unsigned long long row = gpu::fetch(first.data());
  if (row >= static_cast<unsigned long long>(a.shape.rows)) return {a.shape.rows, 0};
  const auto i = static_cast<index_t>(row);
  return {i, leaving_column(a, extents(b), known, i)};
}

/// Every diagonal of a layout from the rows; places without an entry get 0.
template <class V> struct fill_places {
  rows<V, cview> a;
  int count;
  std::int32_t offset[place::count];
  index_t stride;
  double* val;
  FURROW_HD void operator()(index_t i) const {
    index_t k = i < a.shape.rows ? a.row_ptr[i] : 0;
    const index_t end = i < a.shape.rows ? a.row_ptr[i + 1] : 0;
    for (int d = 0; d < count; ++d) {
      const bool there = k < end && a.col[k] - i == offset[d];
      val[d * stride + i] = there ? double(a.val[k]) : 0.0;
      k += there;
    }
  }
};

// A level's matrix.

/// The diagonals of a stencil by place; null where there is none.
struct stencil {
  const double* at[place::count];
};

/// What a block saw of `grid_survey`.
struct seen_rows {
  double least, largest, gershgorin, along[3];
};

constexpr int survey_threads = 256;

template <class Op> __device__ double over_block(double v, Op op, double* room) {
  for (int distance = gpu::warp / 2; distance > 0; distance /= 2) v = op(v, __shfl_xor_sync(~0u, v, distance));
  if (threadIdx.x % gpu::warp == 0) room[threadIdx.x / gpu::warp] = v;
  __syncthreads();
  double all = room[0];
  for (int w = 1; w < survey_threads / gpu::warp; ++w) all = op(all, room[w]);
  __syncthreads();
  return all;
}

__global__ void __launch_bounds__(survey_threads) survey_kernel(stencil a, index_t rows, seen_rows* out) {
  __shared__ double room[survey_threads / gpu::warp];
  gpu::take_turn();
  seen_rows s{HUGE_VAL, 0, 0, {}};
  for (index_t i = index_t(blockIdx.x) * survey_threads + threadIdx.x; i < rows;
       i += index_t(gridDim.x) * survey_threads) {
    double all = 0, side[3][2] = {};
#pragma unroll
    for (int p = 0; p < place::count; ++p) {
      if (!a.at[p]) continue;
      const double v = a.at[p][i];
      all += fabs(v);
#pragma unroll
      for (int axis = 0; axis < 3; ++axis)
        if (place::step(p, axis) != 0) side[axis][place::step(p, axis) > 0] += v;
    }
    const double diagonal = a.at[place::centre][i], own = diagonal == diagonal ? diagonal : 0;
    s.least = fmin(s.least, own);
    s.largest = fmax(s.largest, own);
    s.gershgorin = fmax(s.gershgorin, all / diagonal);
    for (int axis = 0; axis < 3; ++axis) s.along[axis] += fabs(side[axis][0]) + fabs(side[axis][1]);
  }
  const auto least = [](double x, double y) { return fmin(x, y); };
  const auto most = [](double x, double y) { return fmax(x, y); };
  const auto sum = [](double x, double y) { return x + y; };
  seen_rows b{
      over_block(s.least, least, room), over_block(s.largest, most, room), over_block(s.gershgorin, most, room), {}};
  for (int axis = 0; axis < 3; ++axis) b.along[axis] = over_block(s.along[axis], sum, room);
  if (threadIdx.x == 0) out[blockIdx.x] = b;
}

struct invert_diagonal {
  const double* own;
  double* inverse;
  FURROW_HD void operator()(index_t i) const { inverse[i] = 1 / own[i]; }
};

/// Diagonals with the same offset, which have no place in common, become one.
template <class W> struct round_diagonals {
  int count;
  unsigned same; ///< bits of those that have the offset of the one before
  index_t rows, stride;
  const double* from;
  double scale;
  W* to;
  FURROW_HD void operator()(index_t i) const {
    W own = 0;
    for (int k = 0, d = -1; k < count; ++k) {
      const bool again = same >> k & 1;
      own = (again ? own : W(0)) + (i < rows ? rounded<W>(from[k * stride + i], scale) : W(0));
      d += !again;
      to[d * stride + i] = own;
    }
  }
};
template <class W>
dia<W, gpu_array> rounded_diagonals(const box_layout& a, const gpu_array<double>& val, double scale) {
  const auto& offsets = a.offsets();
  std::vector<std::int32_t> distinct;
  unsigned same = 0;
  for (index_t k = 0; k < offsets.size(); ++k)
    if (k > 0 && offsets[k] == offsets[k - 1]) same |= 1u << k;
    else distinct.push_back(offsets[k]);
  host_array<std::int32_t> kept(static_cast<index_t>(distinct.size()));
  std::copy(distinct.begin(), distinct.end(), kept.begin());
  dia<W, gpu_array> to{{a.rows(), a.rows()}, a.stride(), gpu_array<std::int32_t>(kept), {}};
  to.val = gpu_array<W>(kept.size() * a.stride());
  gpu::for_each(a.stride(), round_diagonals<W>{static_cast<int>(offsets.size()), same, a.rows(), a.stride(), val.data(),
                                               scale, to.val.data()});
  return to;
}

// A direction.

struct weigh_points {
  stencil a;
  extents fine, gone;
  int axis;
  double *lower, *upper;
  FURROW_HD void operator()(index_t i) const {
    unsigned p[3];
    gone.point(static_cast<unsigned>(i), p);
    p[axis] *= 2;
    const unsigned row = fine.at(p);
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < place::count; ++k)
      if (a.at[k]) {
        const double v = a.at[k][row];
        const int step = place::step(k, axis);
        if (step < 0) sum[0] += v;
        else if (step == 0) sum[1] += v;
        else sum[2] += v;
      }
    const two_weights w = weights_of(sum[0], sum[1], sum[2]);
    lower[i] = w.lower;
    upper[i] = w.upper;
  }
};

/// A point that is kept: its rows and those of the points that go beside it, times P, place by place across the
/// direction.
struct multiply_points {
  stencil a;
  extents fine, gone, coarse;
  int axis;
  const double *lower, *upper;
  double* c[place::count]; ///< by place; null where there is none

  FURROW_HD void operator()(index_t i) const {
    unsigned p[3];
    coarse.point(static_cast<unsigned>(i), p);
    const unsigned j = p[axis], step = fine.stride(axis), one = gone.stride(axis);
    const bool after = j + 1 < gone.n[axis];
    const unsigned own = gone.at(p);
    p[axis] = 2 * j;
    const unsigned row = fine.at(p);
    p[axis] = j;
    const double up = upper[own], down = after ? lower[own + one] : 0;
    const int unit = place::unit(axis);
    for (int across = 0; across < place::count; ++across) {
      if (place::step(across, axis) != 0 || !c[across]) continue;
      double out[3] = {0, 0, 0};
      bool inside = true;
      for (int other = 0; other < 3; ++other) {
        const int way = place::step(across, other);
        inside = inside && !(way < 0 && p[other] == 0) && !(way > 0 && other != axis && p[other] + 1 == gone.n[other]);
      }
      if (inside) {
        const unsigned to = own + place::step(across, 0) + place::step(across, 1) * gone.stride(1) +
                            place::step(across, 2) * gone.stride(2);
        const double l0 = lower[to], u0 = upper[to], l2 = after ? lower[to + one] : 0, u2 = after ? upper[to + one] : 0;
        const auto value = [&](int place, unsigned r) { return a.at[place] ? a.at[place][r] : 0.0; };
        const int back = across - unit, on = across + unit;
        // Rows one step back, kept, one step on; columns the same. Then what goes is shared among what is kept.
        out[0] = value(back, row + step) * l0;
        out[1] = value(across, row + step) + value(back, row + step) * u0;
        if (after) {
          out[1] += value(on, row + step) * l2;
          out[2] = value(on, row + step) * u2;
        }
        out[0] += up * (value(across, row) * l0 + value(back, row));
        out[1] += up * (value(across, row) * u0 + value(on, row));
        if (after) {
          const unsigned last = row + 2 * step;
          out[1] += down * (value(across, last) * l2 + value(back, last));
          out[2] += down * (value(across, last) * u2 + value(on, last));
        }
      }
      for (int k = 0; k < 3; ++k)
        if (double* const to = c[across + (k - 1) * unit]) to[i] = out[k];
    }
  }
};

/// See build_grid.
class device_kit {
public:
  template <class V> device_kit(const rows<V, cview>& a, const found_box& found) {
    begin(layout_of(found));
    fill_places<V> fill{a, static_cast<int>(layout_.offsets().size()), {}, layout_.stride(), a_.val.data()};
    std::copy(layout_.offsets().begin(), layout_.offsets().end(), fill.offset);
    gpu::for_each(layout_.stride(), fill);
  }

  const box_layout& layout() const { return layout_; }

  grid_survey survey() const {
    const index_t rows = layout_.rows();
    const unsigned blocks = gpu::blocks_for(rows, survey_threads, gpu::current_queue());
    gpu_array<seen_rows> seen(blocks);
    gpu::launch(survey_kernel, blocks, survey_threads, 0, gpu::current_queue(), by_place(a_.val), rows, seen.data());
    grid_survey all{{std::numeric_limits<double>::infinity(), 0}, 0, {}};
    for (const seen_rows& s : host_array<seen_rows>(seen)) {
      all.diagonal = {std::min(all.diagonal.least, s.least), std::max(all.diagonal.largest, s.largest)};
      all.gershgorin = std::max(all.gershgorin, s.gershgorin);
      for (int axis = 0; axis < 3; ++axis) all.along[axis] += s.along[axis];
    }
    weigh_ends(all, layout_.points());
    return all;
  }
  template <class W> std::optional<gpu_array<W>> dense_inverse(double scale) const {
    const auto home = download(a_);
    const auto inverse = amg::dense_inverse(by_rows(view_of(home)).view());
    if (!inverse) return std::nullopt;
    return rounded_values<W>(gpu_array<double>(*inverse), 1 / scale);
  }
  template <class W> void keep(level<W, gpu_array>& l, double scale) {
    inverse_ = gpu_array<double>(layout_.rows());
    gpu::for_each(layout_.rows(), invert_diagonal{a_.val.data() + layout_.begin(place::centre), inverse_.data()});
    l.inverse = rounded_values<W>(inverse_, 1 / scale);
    l.diagonals = rounded_diagonals<W>(layout_, a_.val, scale);
  }
  double bound(double gershgorin) const {
    return bound_of_spectrum(gershgorin, gpu_lanczos(inverse_, [&](auto x, auto keep) {
                               row_pass(gpu::current_queue(), a_, cview<double>{}, x, keep);
                             }));
  }
  template <class W> axis_transfer<W, gpu_array> halve(int axis) {
    axis_transfer<double, gpu_array> p{layout_.points(), axis, {}, {}};
    p.lower = gpu_array<double>(p.gone().size());
    p.upper = gpu_array<double>(p.gone().size());
    const extents fine(p.fine), gone(p.gone()), coarse(p.coarse());
    gpu::for_each(p.gone().size(), weigh_points{by_place(a_.val), fine, gone, axis, p.lower.data(), p.upper.data()});
    const auto before = std::move(a_.val);
    multiply_points product{by_place(before), fine, gone, coarse, axis, p.lower.data(), p.upper.data(), {}};
    begin(layout_of_product(layout_, axis));
    for (int k = 0; k < place::count; ++k) product.c[k] = at(k, a_.val);
    gpu::for_each(layout_.rows(), product);
    return {p.fine, axis, rounded_values<W>(p.lower, 1), rounded_values<W>(p.upper, 1)};
  }

private:
  void begin(box_layout layout) {
    layout_ = std::move(layout);
    a_ = {{layout_.rows(), layout_.rows()},
          layout_.stride(),
          gpu_array<std::int32_t>(layout_.offsets()),
          gpu_array<double>(layout_.size())};
  }
  template <class Values> auto at(int place, Values& val) const {
    return layout_.there()[place] ? val.data() + layout_.begin(place) : nullptr;
  }
  stencil by_place(const gpu_array<double>& val) const {
    stencil s{};
    for (int k = 0; k < place::count; ++k) s.at[k] = at(k, val);
    return s;
  }

  gpu::memory_kept kept_;
  box_layout layout_;
  dia<double, gpu_array> a_;
  gpu_array<double> inverse_;
};

} // namespace gpu_grid

template <class V> found_box find_box_on_gpu(const rows<V, cview>& a) {
  const auto offsets = offsets_on_gpu(a.shape.rows, a.row_ptr, a.col, place::count);
  if (offsets.empty()) return {{}, {}, too_many_diagonals};
  return box_of_offsets(a.shape.rows, offsets, [&](const box& b) { return gpu_grid::leaving(a, offsets, b); });
}
template found_box find_box_on_gpu(const rows<double, cview>&);
template found_box find_box_on_gpu(const rows<float, cview>&);

template <class W, class V>
hierarchy<W, gpu_array> grid_hierarchy_on_gpu(const rows<V, cview>& a, const found_box& found) {
  gpu_grid::device_kit kit(a, found);
  return build_grid<W, gpu_array>(kit);
}
template hierarchy<float, gpu_array> grid_hierarchy_on_gpu(const rows<float, cview>&, const found_box&);
template hierarchy<float, gpu_array> grid_hierarchy_on_gpu(const rows<double, cview>&, const found_box&);
template hierarchy<double, gpu_array> grid_hierarchy_on_gpu(const rows<float, cview>&, const found_box&);
template hierarchy<double, gpu_array> grid_hierarchy_on_gpu(const rows<double, cview>&, const found_box&);

} // namespace furrow::amg
