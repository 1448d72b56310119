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

/// body(begin, end) over n pieces of so many points by the threads, which share transforms of that length.
template <class F> void for_each_part(index_t n, index_t points, F body) {
  cpu::for_each_range(n, fourier_transform::alone / points,
                      [&](index_t begin, index_t end) { cpu::widest([&]() FURROW_INLINE { body(begin, end); }); });
}

} // namespace

cpu_transform::turns::turns(index_t factor, index_t points, index_t count) : coarse((count - 1) / block + 1) {
  for (index_t k = 0; k < coarse.size(); ++k) coarse[k] = unit_root(factor * block * k, 4 * points);
  for (index_t k = 0; k < block; ++k) {
    const complex_number e = unit_root(factor * k, 4 * points);
    fine_re[k] = e.re, fine_im[k] = e.im;
  }
}

cpu_transform::cpu_transform(index_t points)
    : points_(points), forth_(points), back_(points / 2), one_(1, points, points), five_(5, points, points / 4 + 1) {
  require(points > 0 && points % 8 == 0, "a transform whose length is not a multiple of 8");
}

double cpu_transform::bytes() const { return forth_.bytes() + back_.bytes() + one_.bytes() + five_.bytes(); }

const double* cpu_transform::values(const double* a, const double* b, double* z, double* room) const {
  constexpr index_t block = turns::block;
  const index_t m = points_;
  for_each_part((m - 1) / block + 1, block, [=, this](index_t begin, index_t end) FURROW_INLINE {
    for (index_t part = begin; part < end; ++part) {
      const complex_number coarse = one_.coarse[part];
      const index_t first = part * block, size = std::min(block, m - first);
#pragma omp simd
      for (index_t d = part == 0; d < size; ++d) {
        const index_t k = first + d;
        const double er = coarse.re * one_.fine_re[d] - coarse.im * one_.fine_im[d];
        const double ei = coarse.re * one_.fine_im[d] + coarse.im * one_.fine_re[d];
        const double re = a[k] + b[m - k], im = b[k] - a[m - k];
        z[2 * k] = er * re - ei * im;
        z[2 * k + 1] = er * im + ei * re;
      }
    }
  });
  z[0] = a[0], z[1] = b[0];
  return forth_.plus(z, room);
}

void cpu_transform::multiply(const double* values, double* u) const {
  for_each_part(points_, 1, [=](index_t begin, index_t end) FURROW_INLINE {
#pragma omp simd
    for (index_t m = begin; m < end; ++m) u[m] = values[2 * m] * values[2 * m + 1];
  });
}

void cpu_transform::multiply(const double* values, const double* fixed, double* u, double* v) const {
  for_each_part(points_, 1, [=](index_t begin, index_t end) FURROW_INLINE {
#pragma omp simd
    for (index_t m = begin; m < end; ++m) {
      u[m] = fixed[m] * values[2 * m];
      v[m] = fixed[m] * values[2 * m + 1];
    }
  });
}

/// With E and O the transforms of the even and the odd u, p = e^(-pi i k / 2M) E_k and q = e^(-5 pi i k / 2M) O_k, the
/// numbers p + q and p - q hold the coefficients k, M - k and M/2 - k, M/2 + k.
void cpu_transform::coefficients(double* u, double* room, double* c) const {
  constexpr index_t block = turns::block;
  const index_t m = points_, half = m / 2, quarter = m / 4;
  const double* const y = back_.minus(u, room);
  const double scale = 1 / (4.0 * double(m)), r = scale * 0.707106781186547524400844362104849039;
  for_each_part(quarter / block + 1, 4 * block, [=, this](index_t begin, index_t end) FURROW_INLINE {
    double there_re[block], there_im[block]; // y_{half - k}, k ascending: compilers reverse single numbers, not pairs
    for (index_t part = begin; part < end; ++part) {
      const complex_number one = one_.coarse[part], five = five_.coarse[part];
      const index_t first = part * block, size = std::min(block, quarter + 1 - first), from = half - first - size + 1;
#pragma omp simd
      for (index_t d = 0; d < size - (part == 0); ++d) {
        there_re[size - 1 - d] = y[2 * (from + d)];
        there_im[size - 1 - d] = y[2 * (from + d) + 1];
      }
#pragma omp simd
      for (index_t d = part == 0; d < size; ++d) {
        const index_t k = first + d;
        const double vr = one.re * one_.fine_re[d] - one.im * one_.fine_im[d];
        const double vi = one.re * one_.fine_im[d] + one.im * one_.fine_re[d];
        const double wr = five.re * five_.fine_re[d] - five.im * five_.fine_im[d];
        const double wi = five.re * five_.fine_im[d] + five.im * five_.fine_re[d];
        const double er = y[2 * k] + there_re[d], ei = y[2 * k + 1] - there_im[d]; // 2 E
        const double fr = y[2 * k + 1] + there_im[d], fi = there_re[d] - y[2 * k]; // 2 O
        const double pr = er * vr + ei * vi, pi = ei * vr - er * vi;
        const double qr = fr * wr + fi * wi, qi = fi * wr - fr * wi;
        c[half - k] = r * ((pr - qr) - (pi - qi));
        c[half + k] = r * ((pr - qr) + (pi - qi));
        c[k] = scale * (pr + qr);
        c[m - k] = -scale * (pi + qi);
      }
    }
  });
  c[0] = 2 * scale * (y[0] + y[1]);
  c[half] = 2 * r * (y[0] - y[1]);
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
