// SPDX-License-Identifier: BSD-3-Clause
#include "tile_fft.hpp"

#include "backends/cpu/isa.hpp"

#include <utility>

namespace furrow::chebyshev {
namespace {

/// The transform of R numbers in place, in registers.
template <int R> FURROW_INLINE inline void butterfly(double* re, double* im) {
  if constexpr (R == 2) {
    const double r = re[0], i = im[0];
    re[0] = r + re[1], im[0] = i + im[1];
    re[1] = r - re[1], im[1] = i - im[1];
  } else if constexpr (R == 3) {
    constexpr double s = 0.866025403784438646763723170752936183;
    const double tr = re[1] + re[2], ti = im[1] + im[2], ur = s * (re[1] - re[2]), ui = s * (im[1] - im[2]);
    const double mr = re[0] - 0.5 * tr, mi = im[0] - 0.5 * ti;
    re[0] += tr, im[0] += ti;
    re[1] = mr - ui, im[1] = mi + ur;
    re[2] = mr + ui, im[2] = mi - ur;
  } else if constexpr (R == 4) {
    const double ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
    const double cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];
    re[0] = ar + cr, im[0] = ai + ci;
    re[1] = br - di, im[1] = bi + dr;
    re[2] = ar - cr, im[2] = ai - ci;
    re[3] = br + di, im[3] = bi - dr;
  } else {
    static_assert(R == 5);
    constexpr double c1 = 0.309016994374947424102293417182819059, c2 = -0.809016994374947424102293417182819059;
    constexpr double s1 = 0.951056516295153572116439333379382143, s2 = 0.587785252292473129168705954639072769;
    const double ar = re[1] + re[4], ai = im[1] + im[4], br = re[2] + re[3], bi = im[2] + im[3];
    const double cr = re[1] - re[4], ci = im[1] - im[4], dr = re[2] - re[3], di = im[2] - im[3];
    const double er = re[0] + c1 * ar + c2 * br, ei = im[0] + c1 * ai + c2 * bi;
    const double fr = re[0] + c2 * ar + c1 * br, fi = im[0] + c2 * ai + c1 * bi;
    const double gr = s1 * cr + s2 * dr, gi = s1 * ci + s2 * di, hr = s2 * cr - s1 * dr, hi = s2 * ci - s1 * di;
    re[0] += ar + br, im[0] += ai + bi;
    re[1] = er - gi, im[1] = ei + gr;
    re[4] = er + gi, im[4] = ei - gr;
    re[2] = fr - hi, im[2] = fi + hr;
    re[3] = fr + hi, im[3] = fi - hr;
  }
}

/// One stage: n numbers are left to each of `done` transforms.
template <int R>
FURROW_INLINE inline void stage(const tile& x, const tile& y, index_t n, index_t done, const complex_number* roots) {
  const index_t part = n / R, run = done * tile_lanes;
  for (index_t p = 0; p < part; ++p) {
    complex_number w[R];
    for (int j = 0; j < R; ++j) w[j] = roots[p * j * done];
    const double* const xr = x.re + p * run;
    const double* const xi = x.im + p * run;
    double* const yr = y.re + R * p * run;
    double* const yi = y.im + R * p * run;
    const index_t step = part * run;
#pragma omp simd
    for (index_t t = 0; t < run; ++t) {
      double re[R], im[R];
      for (int j = 0; j < R; ++j) re[j] = xr[t + j * step], im[j] = xi[t + j * step];
      butterfly<R>(re, im);
      yr[t] = re[0], yi[t] = im[0];
      for (int j = 1; j < R; ++j) {
        yr[t + j * run] = re[j] * w[j].re - im[j] * w[j].im;
        yi[t + j * run] = re[j] * w[j].im + im[j] * w[j].re;
      }
    }
  }
}

} // namespace

tile_fft::tile_fft(index_t n) : roots_(n) {
  for (index_t t = 0; t < n; ++t) roots_[t] = unit_root(t, n);
  index_t rest = n;
  for (const int radix : {5, 3, 4, 2})
    for (; rest % radix == 0; rest /= radix) radices_[stages_++] = radix;
  require(rest == 1, "a transform of this length has a prime factor beyond 5");
}

tile tile_fft::run(tile x, tile room) const {
  const complex_number* const roots = roots_.data();
  index_t n = size(), done = 1;
  for (int s = 0; s < stages_; ++s) {
    cpu::widest([&]() FURROW_INLINE {
      switch (radices_[s]) {
      case 2:
        return stage<2>(x, room, n, done, roots);
      case 3:
        return stage<3>(x, room, n, done, roots);
      case 4:
        return stage<4>(x, room, n, done, roots);
      default:
        return stage<5>(x, room, n, done, roots);
      }
    });
    n /= radices_[s];
    done *= radices_[s];
    std::swap(x, room);
  }
  return x;
}

} // namespace furrow::chebyshev
