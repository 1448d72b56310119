// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "axis_transfer.hpp"

#include "backends/gpu/primitives.hpp"

#include <vector>

namespace furrow::amg {
namespace gpu_transfer {

/// How an index of a box falls into what comes before a direction, the direction, and what comes after.
struct along_axis {
  unsigned step, extent;
  FURROW_HD unsigned before(unsigned i) const { return i % step; }
  FURROW_HD unsigned at(unsigned i) const { return i / step % extent; }
  FURROW_HD unsigned after(unsigned i) const { return i / step / extent; }
};

/// c <- P' r, a thread a point that is kept.
template <class W> struct restrict_axis {
  along_axis points; ///< that are kept
  unsigned gone, fine;
  const W *lower, *upper, *r;
  W* c;
  FURROW_HD void operator()(index_t index) const {
    const auto i = static_cast<unsigned>(index);
    const unsigned before = points.before(i), j = points.at(i), after = points.after(i), step = points.step;
    const unsigned at = before + step * (2 * j + fine * after), own = before + step * (j + gone * after);
    const W sum = r[at + step] + upper[own] * r[at];
    c[i] = j + 1 < gone ? sum + lower[own + step] * r[at + 2 * step] : sum;
  }
};

/// x <- P c, or x + P c; a thread a point that goes, and the kept one that follows it.
template <class W, bool Add> struct prolong_axis {
  along_axis points; ///< that go
  unsigned kept, fine;
  const W *lower, *upper, *c;
  W* x;
  FURROW_HD void operator()(index_t index) const {
    const auto i = static_cast<unsigned>(index);
    const unsigned before = points.before(i), j = points.at(i), after = points.after(i), step = points.step;
    const unsigned here = before + step * (j + kept * after), at = before + step * (2 * j + fine * after);
    const W last = j > 0 ? c[here - step] : W(0), next = j < kept ? c[here] : W(0);
    const W sum = lower[i] * last + upper[i] * next;
    x[at] = Add ? x[at] + sum : sum;
    if (j < kept) x[at + step] = Add ? x[at + step] + next : next;
  }
};

} // namespace gpu_transfer

/// `grid_transfer` on the current GPU: enqueued, and can be recorded.
template <class W> class grid_transfer_on_gpu {
public:
  explicit grid_transfer_on_gpu(const std::vector<axis_transfer<W, gpu_array>>& axes) {
    for (std::size_t k = 0; k + 1 < axes.size(); ++k) between_.emplace_back(axes[k].coarse().size());
  }
  /// c <- P' r.
  void restrict_to(const std::vector<axis_transfer<W, gpu_array>>& axes, const W* r, W* c) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto& t = axes[k];
      const auto [kept, gone] = extents(t);
      gpu::for_each(t.coarse().size(), gpu_transfer::restrict_axis<W>{{step(t), kept},
                                                                      gone,
                                                                      kept + gone,
                                                                      t.lower.data(),
                                                                      t.upper.data(),
                                                                      k ? between_[k - 1].data() : r,
                                                                      k + 1 < axes.size() ? between_[k].data() : c});
    }
  }
  /// x <- x + P c.
  void add_prolonged(const std::vector<axis_transfer<W, gpu_array>>& axes, const W* c, W* x) {
    for (std::size_t k = axes.size(); k-- > 0;) {
      const W* const from = k + 1 < axes.size() ? between_[k].data() : c;
      if (k == 0) prolong<true>(axes[k], from, x);
      else prolong<false>(axes[k], from, between_[k - 1].data());
    }
  }

private:
  using axis = axis_transfer<W, gpu_array>;
  static unsigned step(const axis& t) { return static_cast<unsigned>(t.fine.stride(t.axis)); }
  static std::pair<unsigned, unsigned> extents(const axis& t) {
    const auto all = static_cast<unsigned>(t.fine.points[t.axis]);
    return {all / 2, (all + 1) / 2};
  }
  template <bool Add> static void prolong(const axis& t, const W* c, W* x) {
    const auto [kept, gone] = extents(t);
    gpu::for_each(t.gone().size(), gpu_transfer::prolong_axis<W, Add>{
                                       {step(t), gone}, kept, kept + gone, t.lower.data(), t.upper.data(), c, x});
  }

  std::vector<gpu_array<W>> between_;
};

} // namespace furrow::amg
