// SPDX-License-Identifier: BSD-3-Clause
// Compiled without fused multiply-adds: a number has the same bits in the middle of a vector loop and at its end.
#include "cpu_transform.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "unity.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace furrow::chebyshev {
namespace {

constexpr double root_half = 0.707106781186547524400844362104849039;

/// body(begin, end) over 0 <= k < n by the threads, those of a transform of that many points.
template <class F> void for_each_part(index_t n, F body) {
  cpu::for_each_range(n, fourier_transform::alone,
                      [&](index_t begin, index_t end) { cpu::widest([&]() FURROW_INLINE { body(begin, end); }); });
}

} // namespace

cpu_transform::cpu_transform(index_t points)
    : half_(points / 2), forth_(points), back_(half_), one_(half_), five_(half_ / 2 + 1) {
  require(points > 0 && points % 8 == 0, "a transform whose length is not a multiple of 8");
  const root_table roots(4 * points);
  for (index_t k = 0; k < half_; ++k) one_[k] = roots(k);
  for (index_t k = 0; k <= half_ / 2; ++k) five_[k] = roots(5 * k);
}

double cpu_transform::bytes() const {
  return forth_.bytes() + back_.bytes() + double(one_.byte_count() + five_.byte_count());
}

const complex_number* cpu_transform::values(const double* a, const double* b, complex_number* z,
                                            complex_number* room) const {
  const index_t m = points();
  const complex_number* const one = one_.data();
  z[0] = {a[0], b[0]};
  z[half_] = {a[half_] / root_half, b[half_] / root_half};
  // With x_k = w_k + i w'_k of the two series, w_{M-k} is the conjugate of w_k.
  for_each_part(half_, [=](index_t begin, index_t end) FURROW_INLINE {
#pragma omp simd
    for (index_t k = std::max<index_t>(begin, 1); k < end; ++k) {
      const double er = one[k].re, ei = one[k].im;
      const double ar = er * a[k] + ei * a[m - k], ai = ei * a[k] - er * a[m - k];
      const double br = er * b[k] + ei * b[m - k], bi = ei * b[k] - er * b[m - k];
      z[k].re = ar - bi, z[k].im = ai + br;
      z[m - k].re = ar + bi, z[m - k].im = br - ai;
    }
  });
  return forth_.plus(z, room);
}

void cpu_transform::multiply(const complex_number* values, complex_number* u) const {
  for_each_part(half_, [=](index_t begin, index_t end) FURROW_INLINE {
#pragma omp simd
    for (index_t k = begin; k < end; ++k) {
      u[k].re = values[2 * k].re * values[2 * k].im;
      u[k].im = values[2 * k + 1].re * values[2 * k + 1].im;
    }
  });
}

void cpu_transform::multiply(const complex_number* values, const double* fixed, complex_number* u,
                             complex_number* v) const {
  for_each_part(half_, [=](index_t begin, index_t end) FURROW_INLINE {
#pragma omp simd
    for (index_t k = begin; k < end; ++k) {
      const double first = fixed[2 * k], second = fixed[2 * k + 1];
      u[k].re = first * values[2 * k].re, u[k].im = second * values[2 * k + 1].re;
      v[k].re = first * values[2 * k].im, v[k].im = second * values[2 * k + 1].im;
    }
  });
}

/// With E and O the transforms of the even and the odd u, p = e^(-pi i k / 2M) E_k and q = e^(-5 pi i k / 2M) O_k, the
/// numbers p + q and p - q hold the coefficients k, M - k and M/2 - k, M/2 + k.
void cpu_transform::coefficients(complex_number* u, complex_number* room, double* c) const {
  const index_t m = points(), half = half_;
  const complex_number *const y = back_.minus(u, room), *const one = one_.data(), *const five = five_.data();
  const double scale = 1 / (4.0 * double(m)), r = scale * root_half;
  c[0] = 2 * scale * (y[0].re + y[0].im);
  c[half] = 2 * r * (y[0].re - y[0].im);
  const auto quarter = [=](index_t k) FURROW_INLINE {
    const index_t there = half - k;
    const double er = y[k].re + y[there].re, ei = y[k].im - y[there].im; // 2 E
    const double fr = y[k].im + y[there].im, fi = y[there].re - y[k].re; // 2 O
    const double pr = er * one[k].re + ei * one[k].im, pi = ei * one[k].re - er * one[k].im;
    const double qr = fr * five[k].re + fi * five[k].im, qi = fi * five[k].re - fr * five[k].im;
    c[k] = scale * (pr + qr);
    c[m - k] = -scale * (pi + qi);
    c[there] = r * ((pr - qr) - (pi - qi));
    c[half + k] = r * ((pr - qr) + (pi - qi));
  };
  for_each_part(half / 2, [=](index_t begin, index_t end) FURROW_INLINE {
#pragma omp simd
    for (index_t k = std::max<index_t>(begin, 1); k < end; ++k) quarter(k);
  });
  quarter(half / 2); // two coefficients, twice
}

std::shared_ptr<const cpu_transform> cpu_transform_of(index_t points) {
  constexpr std::size_t most = 8;
  static auto& one_at_a_time = *new std::mutex; // never destroyed: plans may be made by what is of static storage
  static auto& kept = *new std::vector<std::shared_ptr<const cpu_transform>>; // the last one was asked for last
  const std::scoped_lock lock(one_at_a_time);
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& t) { return t->points() == points; });
  if (found != kept.end()) {
    std::rotate(found, found + 1, kept.end());
  } else {
    auto made = std::make_shared<const cpu_transform>(points);
    if (kept.size() == most) kept.erase(kept.begin());
    kept.push_back(std::move(made));
  }
  return kept.back();
}

} // namespace furrow::chebyshev
