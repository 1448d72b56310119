// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_transform.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace furrow::chebyshev {
namespace {

constexpr index_t lanes = tile_lanes;

/// Roots 0, step, 2 step, ... of this order, a complex pack.
void put_roots(index_t step, index_t order, double* w) {
  for (index_t d = 0; d < lanes; ++d) {
    const complex_number e = unit_root(step * d, order);
    w[d] = e.re, w[d + lanes] = e.im;
  }
}

} // namespace

cpu_transform::cpu_transform(split_length length)
    : length_(length), by_rows_(length.rows), by_cols_(length.cols), by_half_(length.rows / 2),
      roots_(4 * length.points()), twist_(length.rows * pair_size) {
  for (index_t j = 0; j < length.rows; ++j) put_roots(j, points(), twist_.data() + j * pair_size);
  put_roots(1, 4 * points(), low_);
  put_roots(5, 4 * points(), low_five_);
}

double cpu_transform::bytes() const {
  return by_rows_.bytes() + by_cols_.bytes() + by_half_.bytes() + roots_.bytes() + double(twist_.byte_count());
}

/// to <- the complex pack x times the twiddles of this row and of columns c to c + 7.
FURROW_INLINE inline void cpu_transform::turn(const double* x, index_t row, index_t c, double* to) const {
  const complex_number e = roots_(4 * c * row);
  const double* const twist = twist_.data() + row * pair_size;
#pragma omp simd
  for (index_t d = 0; d < lanes; ++d) {
    const double re = x[d], im = x[d + lanes];
    const double wr = e.re * twist[d] - e.im * twist[d + lanes], wi = e.re * twist[d + lanes] + e.im * twist[d];
    to[d] = re * wr - im * wi;
    to[d + lanes] = re * wi + im * wr;
  }
}

void cpu_transform::columns(const double* a, const double* b, double* z) const {
  const index_t m = points(), rows = length_.rows, cols = length_.cols;
  cpu::for_each_range(cols / lanes, part / (rows * lanes) + 1, [&](index_t begin, index_t end) {
    host_array<double> x(rows * pair_size), room(rows * pair_size);
    for (index_t c = begin * lanes; c < end * lanes; c += lanes) {
      cpu::widest([&]() FURROW_INLINE {
        for (index_t j = 0; j < rows; ++j) {
          const index_t k = j * cols + c;
          const complex_number e = roots_(k);
          double* const to = x.data() + j * pair_size;
#pragma omp simd
          for (index_t d = 0; d < lanes; ++d) {
            const double wr = e.re * low_[d] - e.im * low_[d + lanes], wi = e.re * low_[d + lanes] + e.im * low_[d];
            const double re = a[k + d] + b[m - k - d], im = b[k + d] - a[m - k - d];
            to[d] = wr * re - wi * im;
            to[d + lanes] = wr * im + wi * re;
          }
        }
      });
      const double* const y = by_rows_.run(x.data(), room.data());
      cpu::widest_register([&](auto bytes) FURROW_INLINE {
        alignas(64) double turned[8 * pair_size];
        for (index_t j = 0; j < rows; j += 16)
          for (index_t odd = 0; odd < 2; ++odd) {
            for (index_t l = 0; l < 8; ++l) {
              const index_t row = j + 2 * l + odd;
              turn(y + row * pair_size, row, c, turned + l * pair_size);
            }
            transpose<bytes()>(turned, pair_size, z + (j + 8 * odd) * 2 * cols + c * pair_size, pair_size);
          }
      });
    }
  });
}

/// body(tile of even rows, tile of odd rows, room) for all of z.
template <class F> void cpu_transform::each_row_tiles(double* z, F body) const {
  const index_t size = length_.cols * pair_size;
  cpu::for_each_range(length_.rows / 16, part / (length_.cols * 16) + 1, [&](index_t begin, index_t end) {
    host_array<double> room(size);
    for (index_t t = begin; t < end; ++t) body(z + 2 * t * size, z + (2 * t + 1) * size, room.data());
  });
}

// In all that goes back the parts have changed their places, for the other sign.

void cpu_transform::rows_pair(double* z) const {
  const index_t n = length_.cols * pair_size;
  each_row_tiles(z, [&](double* even, double* odd, double* room) {
    double* const v = by_cols_.run(even, room);
    const double* const w = by_cols_.run(odd, by_cols_.stays() ? room : even);
    cpu::widest([&]() FURROW_INLINE {
      for (index_t t = 0; t < n; t += pair_size)
#pragma omp simd
        for (index_t d = t; d < t + lanes; ++d) {
          const double u = v[d] * v[d + lanes];
          v[d] = w[d] * w[d + lanes];
          v[d + lanes] = u;
        }
    });
    by_cols_.run(v, by_cols_.stays() ? room : even);
  });
}

void cpu_transform::rows_fixed(double* z, const double* values) const {
  const index_t n = length_.cols * pair_size;
  each_row_tiles(z, [&](double* even, double* odd, double* room) {
    double* const v = by_cols_.run(even, room);
    double* const w = by_cols_.run(odd, by_cols_.stays() ? room : even);
    const double* const fixed = values + (even - z) / 2;
    cpu::widest([&]() FURROW_INLINE {
      for (index_t t = 0; t < n; t += pair_size)
#pragma omp simd
        for (index_t d = t; d < t + lanes; ++d) {
          const double f = fixed[d], g = fixed[d + lanes], second = f * v[d + lanes];
          v[d + lanes] = f * v[d];
          v[d] = g * w[d];
          w[d] = g * w[d + lanes];
          w[d + lanes] = second;
        }
    });
    by_cols_.run(w, by_cols_.stays() ? room : odd);
    by_cols_.run(v, by_cols_.stays() ? room : even);
  });
}

void cpu_transform::values(double* z, double* values) const {
  const index_t n = length_.cols * pair_size;
  each_row_tiles(z, [&](double* even, double* odd, double* room) {
    const double* const v = by_cols_.run(even, room);
    const double* const w = by_cols_.run(odd, by_cols_.stays() ? room : even);
    double* const to = values + (even - z) / 2;
    for (index_t t = 0; t < n; t += pair_size) {
      std::copy_n(v + t, lanes, to + t);
      std::copy_n(w + t, lanes, to + t + lanes);
    }
  });
}

void cpu_transform::columns_back(const double* z, int place, double* w) const {
  const index_t half = points() / 2, rows = length_.rows / 2, cols = length_.cols;
  cpu::for_each_range(cols / lanes, part / (rows * lanes) + 1, [&](index_t begin, index_t end) {
    host_array<double> x(rows * pair_size), room(rows * pair_size);
    for (index_t c = begin * lanes; c < end * lanes; c += lanes) {
      cpu::widest_register([&](auto bytes) FURROW_INLINE {
        for (index_t r = 0; r < rows; r += 8) {
          double* const to = x.data() + r * pair_size;
          transpose<bytes()>(z + (2 * r + 8 * place) * 2 * cols + c * pair_size, pair_size, to, pair_size);
          for (index_t l = 0; l < 8; ++l) turn(to + l * pair_size, 2 * (r + l), c, to + l * pair_size);
        }
      });
      const double* const y = by_half_.run(x.data(), room.data());
      for (index_t j = 0; j < rows; ++j) {
        std::copy_n(y + j * pair_size + lanes, lanes, w + j * cols + c);
        std::copy_n(y + j * pair_size, lanes, w + half + 1 + j * cols + c);
      }
    }
  });
  w[half] = w[0];
  w[2 * half + 1] = w[half + 1];
}

/// With E and O the transforms of the even and the odd u, p = e^(-pi i k / 2M) E_k and q = e^(-5 pi i k / 2M) O_k, the
/// numbers p + q and p - q hold the coefficients k, M - k and M/2 - k, M/2 + k.
FURROW_INLINE inline void cpu_transform::quarter(const double* w, double* c, index_t k) const {
  const index_t m = points(), half = m / 2;
  const double scale = 1 / (4.0 * double(m)), r = scale * 0.707106781186547524400844362104849039;
  const double* const w_im = w + half + 1;
  const complex_number one = roots_(k), five = roots_(5 * k);
#pragma omp simd
  for (index_t d = 0; d < lanes; ++d) {
    const double vr = one.re * low_[d] - one.im * low_[d + lanes], vi = one.re * low_[d + lanes] + one.im * low_[d];
    const double wr = five.re * low_five_[d] - five.im * low_five_[d + lanes];
    const double wi = five.re * low_five_[d + lanes] + five.im * low_five_[d];
    const index_t here = k + d, there = half - k - d;
    const double er = w[here] + w[there], ei = w_im[here] - w_im[there]; // 2 E
    const double fr = w_im[here] + w_im[there], fi = w[there] - w[here]; // 2 O
    const double pr = er * vr + ei * vi, pi = ei * vr - er * vi;
    const double qr = fr * wr + fi * wi, qi = fi * wr - fr * wi;
    c[here] = scale * (pr + qr);
    c[m - here] = -scale * (pi + qi);
    c[there] = r * ((pr - qr) - (pi - qi));
    c[half + here] = r * ((pr - qr) + (pi - qi));
  }
}

void cpu_transform::coefficients(const double* w, double* c) const {
  const index_t packs = points() / 4 / lanes;
  cpu::for_each_range(packs, part / lanes, [&](index_t begin, index_t end) {
    cpu::widest([&]() FURROW_INLINE {
      for (index_t k = begin; k < end; ++k) quarter(w, c, k * lanes);
    });
  });
  cpu::widest([&]() FURROW_INLINE { quarter(w, c, packs * lanes - 7); }); // as far as M / 4
}

std::shared_ptr<const cpu_transform> cpu_transform_of(split_length length) {
  constexpr std::size_t most = 8;
  static auto& one_at_a_time = *new std::mutex; // never destroyed: plans may be made by what is of static storage
  static auto& kept = *new std::vector<std::shared_ptr<const cpu_transform>>; // the last one was asked for last
  const std::scoped_lock lock(one_at_a_time);
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& t) { return t->length() == length; });
  if (found != kept.end()) {
    std::rotate(found, found + 1, kept.end());
  } else {
    auto made = std::make_shared<const cpu_transform>(length);
    if (kept.size() == most) kept.erase(kept.begin());
    kept.push_back(std::move(made));
  }
  return kept.back();
}

} // namespace furrow::chebyshev
