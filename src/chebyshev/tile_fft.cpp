// SPDX-License-Identifier: BSD-3-Clause
#include "tile_fft.hpp"

#include <utility>

namespace furrow::chebyshev {
namespace {

/// The transform of R numbers in place, in registers.
template <int R, int Bytes> FURROW_INLINE inline void butterfly(pack<Bytes>* re, pack<Bytes>* im) {
  if constexpr (R == 2) {
    const auto r = re[0], i = im[0];
    re[0] = r + re[1], im[0] = i + im[1];
    re[1] = r - re[1], im[1] = i - im[1];
  } else if constexpr (R == 3) {
    constexpr double s = 0.866025403784438646763723170752936183;
    const auto tr = re[1] + re[2], ti = im[1] + im[2], ur = s * (re[1] - re[2]), ui = s * (im[1] - im[2]);
    const auto mr = re[0] - 0.5 * tr, mi = im[0] - 0.5 * ti;
    re[0] += tr, im[0] += ti;
    re[1] = mr - ui, im[1] = mi + ur;
    re[2] = mr + ui, im[2] = mi - ur;
  } else if constexpr (R == 4) {
    const auto ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
    const auto cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];
    re[0] = ar + cr, im[0] = ai + ci;
    re[1] = br - di, im[1] = bi + dr;
    re[2] = ar - cr, im[2] = ai - ci;
    re[3] = br + di, im[3] = bi - dr;
  } else if constexpr (R == 5) {
    constexpr double c1 = 0.309016994374947424102293417182819059, c2 = -0.809016994374947424102293417182819059;
    constexpr double s1 = 0.951056516295153572116439333379382143, s2 = 0.587785252292473129168705954639072769;
    const auto ar = re[1] + re[4], ai = im[1] + im[4], br = re[2] + re[3], bi = im[2] + im[3];
    const auto cr = re[1] - re[4], ci = im[1] - im[4], dr = re[2] - re[3], di = im[2] - im[3];
    const auto er = re[0] + c1 * ar + c2 * br, ei = im[0] + c1 * ai + c2 * bi;
    const auto fr = re[0] + c2 * ar + c1 * br, fi = im[0] + c2 * ai + c1 * bi;
    const auto gr = s1 * cr + s2 * dr, gi = s1 * ci + s2 * di, hr = s2 * cr - s1 * dr, hi = s2 * ci - s1 * di;
    re[0] += ar + br, im[0] += ai + bi;
    re[1] = er - gi, im[1] = ei + gr;
    re[4] = er + gi, im[4] = ei - gr;
    re[2] = fr - hi, im[2] = fi + hr;
    re[3] = fr + hi, im[3] = fi - hr;
  } else {
    static_assert(R == 8);
    constexpr double s = 0.707106781186547524400844362104849039;
    pack<Bytes> even_re[4], even_im[4], odd_re[4], odd_im[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      even_re[j] = re[j] + re[j + 4], even_im[j] = im[j] + im[j + 4];
      odd_re[j] = re[j] - re[j + 4], odd_im[j] = im[j] - im[j + 4];
    }
    const auto r1 = odd_re[1], r2 = odd_re[2], r3 = odd_re[3]; // times the eighth roots
    odd_re[1] = s * (r1 - odd_im[1]), odd_im[1] = s * (r1 + odd_im[1]);
    odd_re[2] = -odd_im[2], odd_im[2] = r2;
    odd_re[3] = -s * (r3 + odd_im[3]), odd_im[3] = s * (r3 - odd_im[3]);
    butterfly<4, Bytes>(even_re, even_im);
    butterfly<4, Bytes>(odd_re, odd_im);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      re[2 * j] = even_re[j], im[2 * j] = even_im[j];
      re[2 * j + 1] = odd_re[j], im[2 * j + 1] = odd_im[j];
    }
  }
}

/// One stage: n numbers are left to each of `done` transforms; none after the last one.
template <int R, bool Last, int Bytes>
FURROW_INLINE inline void stage(const double* x, double* y, index_t n, index_t done, const complex_number* roots) {
  constexpr index_t lanes = Bytes / 8;
  const index_t part = n / R, run = done * pair_size, step = part * run;
  for (index_t p = 0; p < part; ++p, x += run, y += R * run) {
    complex_number w[R];
#pragma GCC unroll 8
    for (int j = 1; j < R; ++j) w[j] = roots[p * j * done];
    for (index_t pair = 0; pair < run; pair += pair_size)
      for (index_t t = pair; t < pair + tile_lanes; t += lanes) {
        pack<Bytes> re[R], im[R];
#pragma GCC unroll 8
        for (int j = 0; j < R; ++j)
          re[j] = at<Bytes>(x + t + j * step), im[j] = at<Bytes>(x + t + j * step + tile_lanes);
        butterfly<R, Bytes>(re, im);
#pragma GCC unroll 8
        for (int j = 0; j < R; ++j) {
          const bool as_it_is = Last || j == 0;
          at<Bytes>(y + t + j * run) = as_it_is ? re[j] : re[j] * w[j].re - im[j] * w[j].im;
          at<Bytes>(y + t + j * run + tile_lanes) = as_it_is ? im[j] : re[j] * w[j].im + im[j] * w[j].re;
        }
      }
  }
}

} // namespace

tile_fft::tile_fft(index_t n) : roots_(n) {
  for (index_t t = 0; t < n; ++t) roots_[t] = unit_root(t, n);
  index_t rest = n;
  const auto take = [&](int radix) {
    radices_[stages_++] = radix;
    rest /= radix;
  };
  for (const int radix : {5, 3})
    while (rest % radix == 0) take(radix);
  while (rest % 8 == 0 && rest != 16) take(8); // 16 is 4 times 4
  while (rest % 4 == 0) take(4);
  if (rest % 2 == 0) take(2);
  require(rest == 1, "a transform of this length has a prime factor beyond 5");
}

double* tile_fft::run(double* x, double* room) const {
  const complex_number* const roots = roots_.data();
  index_t n = size(), done = 1;
  for (int s = 0; s < stages_; ++s) {
    const bool last = s + 1 == stages_;
    const auto with = [&]<int R>(std::integral_constant<int, R>) FURROW_INLINE {
      cpu::widest_register([&](auto bytes) FURROW_INLINE {
        if (last) stage<R, true, bytes()>(x, room, n, done, roots);
        else stage<R, false, bytes()>(x, room, n, done, roots);
      });
    };
    switch (radices_[s]) {
    case 2:
      with(std::integral_constant<int, 2>{});
      break;
    case 3:
      with(std::integral_constant<int, 3>{});
      break;
    case 4:
      with(std::integral_constant<int, 4>{});
      break;
    case 5:
      with(std::integral_constant<int, 5>{});
      break;
    default:
      with(std::integral_constant<int, 8>{});
    }
    n /= radices_[s];
    done *= radices_[s];
    std::swap(x, room);
  }
  return x;
}

} // namespace furrow::chebyshev
