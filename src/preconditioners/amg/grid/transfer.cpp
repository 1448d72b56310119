// SPDX-License-Identifier: BSD-3-Clause
#include "transfer.hpp"

#include "backends/cpu/isa.hpp"
#include "box_matrix.hpp"

namespace furrow::amg {
namespace {

/// Restriction of `count` points, Step apart in the fine box; those that go and are kept lie at before, kept, after.
template <int Step, bool After, class W>
FURROW_INLINE inline void gather(index_t count, const W* before, const W* kept, const W* after, const W* upper,
                                 const W* lower, W* c) {
#pragma omp simd
  for (index_t i = 0; i < count; ++i) {
    const W sum = kept[Step * i] + upper[i] * before[Step * i];
    c[i] = After ? sum + lower[i] * after[Step * i] : sum;
  }
}
/// Prolongation to `count` points that go, and to the kept ones that follow them where `Kept`.
template <int Step, bool Add, bool Kept, class W>
FURROW_INLINE inline void spread(index_t count, const W* before, const W* after, const W* lower, const W* upper,
                                 W* gone, W* kept) {
#pragma omp simd
  for (index_t i = 0; i < count; ++i) {
    const W sum = lower[i] * before[i] + upper[i] * after[i];
    gone[Step * i] = Add ? gone[Step * i] + sum : sum;
    if constexpr (Kept) kept[Step * i] = Add ? kept[Step * i] + after[i] : after[i];
  }
}

template <class W> void restrict_along_x(const axis_transfer<W>& t, const W* r, W* c) {
  const box coarse = t.coarse(), gone = t.gone();
  for_each_strip(coarse, [&](index_t x0, index_t x1, index_t y, index_t z) {
    const index_t both = std::min(x1, gone.points[0] - 1);
    const W *const from = r + t.fine.at(2 * x0, y, z), *const upper = t.upper.data() + gone.at(x0, y, z),
                   *const lower = t.lower.data() + gone.at(x0, y, z) + 1;
    W* const to = c + coarse.at(x0, y, z);
    const index_t n = both - x0;
    cpu::widest([&]() FURROW_INLINE { gather<2, true>(n, from, from + 1, from + 2, upper, lower, to); });
    if (both < x1) gather<2, false>(1, from + 2 * n, from + 2 * n + 1, from, upper + n, lower, to + n);
  });
}
template <class W> void restrict_across(const axis_transfer<W>& t, const W* r, W* c) {
  const box coarse = t.coarse(), gone = t.gone();
  const index_t step = t.fine.stride(t.axis);
  for_each_strip(coarse, [&](index_t x0, index_t x1, index_t y, index_t z) {
    const index_t j = t.axis == 1 ? y : z;
    const W* const from = r + (t.axis == 1 ? t.fine.at(x0, 2 * y, z) : t.fine.at(x0, y, 2 * z));
    const W *const upper = t.upper.data() + gone.at(x0, y, z), *const lower = t.lower.data() + gone.at(x0, y, z) + step;
    W* const to = c + coarse.at(x0, y, z);
    const index_t n = x1 - x0;
    cpu::widest([&]() FURROW_INLINE {
      if (j + 1 < gone.points[t.axis]) gather<1, true>(n, from, from + step, from + 2 * step, upper, lower, to);
      else gather<1, false>(n, from, from + step, from, upper, upper, to);
    });
  });
}

template <bool Add, class W> void prolong_along_x(const axis_transfer<W>& t, const W* c, W* x) {
  const box coarse = t.coarse(), gone = t.gone();
  const index_t most = coarse.points[0];
  for_each_strip(gone, [&](index_t x0, index_t x1, index_t y, index_t z) {
    const W* const from = c + coarse.at(0, y, z);
    const W *const lower = t.lower.data() + gone.at(0, y, z), *const upper = t.upper.data() + gone.at(0, y, z);
    W* const to = x + t.fine.at(0, y, z);
    if (x0 == 0) spread<2, Add, true>(1, from, from, lower, upper, to, to + 1);
    const index_t i = std::max<index_t>(x0, 1), n = std::min(x1, most) - i;
    cpu::widest([&]() FURROW_INLINE {
      spread<2, Add, true>(n, from + i - 1, from + i, lower + i, upper + i, to + 2 * i, to + 2 * i + 1);
    });
    if (x1 > most) { // the last point goes
      const W* const last = from + most - 1;
      spread<2, Add, false>(1, last, last, lower + most, upper + most, to + 2 * most, static_cast<W*>(nullptr));
    }
  });
}
template <bool Add, class W> void prolong_across(const axis_transfer<W>& t, const W* c, W* x) {
  const box coarse = t.coarse(), gone = t.gone();
  const index_t step = t.fine.stride(t.axis), most = coarse.points[t.axis];
  for_each_strip(gone, [&](index_t x0, index_t x1, index_t y, index_t z) {
    const index_t j = t.axis == 1 ? y : z, n = x1 - x0;
    const W* const here = c + coarse.at(x0, y, z);
    const W *const before = j > 0 ? here - step : here, *const after = j < most ? here : before;
    const W *const lower = t.lower.data() + gone.at(x0, y, z), *const upper = t.upper.data() + gone.at(x0, y, z);
    W* const to = x + (t.axis == 1 ? t.fine.at(x0, 2 * y, z) : t.fine.at(x0, y, 2 * z));
    cpu::widest([&]() FURROW_INLINE {
      if (j < most) spread<1, Add, true>(n, before, after, lower, upper, to, to + step);
      else spread<1, Add, false>(n, before, after, lower, upper, to, static_cast<W*>(nullptr));
    });
  });
}

template <class W> void restrict_axis(const axis_transfer<W>& t, const W* r, W* c) {
  if (t.axis == 0) restrict_along_x(t, r, c);
  else restrict_across(t, r, c);
}
template <bool Add, class W> void prolong_axis(const axis_transfer<W>& t, const W* c, W* x) {
  if (t.axis == 0) prolong_along_x<Add>(t, c, x);
  else prolong_across<Add>(t, c, x);
}

} // namespace

template <class W> grid_transfer<W>::grid_transfer(const std::vector<axis_transfer<W>>& axes) : axes_(axes) {
  for (std::size_t k = 0; k + 1 < axes.size(); ++k) between_.emplace_back(axes[k].coarse().size());
}
template <class W> void grid_transfer<W>::restrict_to(const W* r, W* c) {
  for (std::size_t k = 0; k < axes_.size(); ++k)
    restrict_axis(axes_[k], k ? between_[k - 1].data() : r, k + 1 < axes_.size() ? between_[k].data() : c);
}
template <class W> void grid_transfer<W>::add_prolonged(const W* c, W* x) {
  for (std::size_t k = axes_.size(); k-- > 0;) {
    const W* const from = k + 1 < axes_.size() ? between_[k].data() : c;
    if (k == 0) prolong_axis<true>(axes_[k], from, x);
    else prolong_axis<false>(axes_[k], from, between_[k - 1].data());
  }
}

template class grid_transfer<double>;
template class grid_transfer<float>;

} // namespace furrow::amg
