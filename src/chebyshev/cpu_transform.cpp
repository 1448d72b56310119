// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_transform.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <utility>

namespace furrow::chebyshev {

/// Memory of a task: three tiles.
struct cpu_transform::room {
  explicit room(index_t n) : length(n * tile_lanes), memory(6 * length) {}
  tile at(int k) { return {memory.data() + 2 * k * length, memory.data() + (2 * k + 1) * length}; }
  index_t length;
  host_array<double> memory;
};

namespace {

constexpr index_t lanes = tile_lanes;

tile swapped(tile t) { return {t.im, t.re}; }

} // namespace

cpu_transform::cpu_transform(split_length length)
    : length_(length), by_rows_(length.rows), by_cols_(length.cols), roots_(4 * length.points()),
      twist_(2 * length.rows * lanes) {
  for (index_t j = 0; j < length.rows; ++j)
    for (index_t d = 0; d < lanes; ++d) {
      const complex_number w = unit_root(j * d, points());
      twist_[2 * j * lanes + d] = w.re;
      twist_[(2 * j + 1) * lanes + d] = w.im;
    }
  for (index_t d = 0; d < lanes; ++d) {
    const complex_number w = unit_root(d, 4 * points());
    low_re_[d] = w.re;
    low_im_[d] = w.im;
  }
}

double cpu_transform::bytes() const {
  return by_rows_.bytes() + by_cols_.bytes() + roots_.bytes() + double(twist_.byte_count());
}

void cpu_transform::columns(const double* a, const double* b, double* z) const {
  const index_t m = points(), cols = length_.cols;
  double* const zr = z;
  double* const zi = z + m;
  cpu::for_each_range(cols / lanes, 1, [&](index_t begin, index_t end) {
    room r(length_.rows);
    for (index_t c = begin * lanes; c < end * lanes; c += lanes) {
      const tile x = r.at(0);
      cpu::widest([&]() FURROW_INLINE {
        for (index_t j = 0; j < length_.rows; ++j) {
          const index_t k = j * cols + c;
          const complex_number e = roots_(k);
#pragma omp simd
          for (index_t d = 0; d < lanes; ++d) {
            const double er = e.re * low_re_[d] - e.im * low_im_[d], ei = e.re * low_im_[d] + e.im * low_re_[d];
            const double re = a[k + d] + b[m - k - d], im = b[k + d] - a[m - k - d];
            x.re[j * lanes + d] = er * re - ei * im;
            x.im[j * lanes + d] = er * im + ei * re;
          }
        }
      });
      const tile y = by_rows_.run(x, r.at(1));
      cpu::widest([&]() FURROW_INLINE {
        for (index_t j = 0; j < length_.rows; ++j) {
          const complex_number e = roots_(4 * c * j);
          const double* const tr = twist_.data() + 2 * j * lanes;
          const double* const ti = tr + lanes;
#pragma omp simd
          for (index_t d = 0; d < lanes; ++d) {
            const double wr = e.re * tr[d] - e.im * ti[d], wi = e.re * ti[d] + e.im * tr[d];
            const double re = y.re[j * lanes + d], im = y.im[j * lanes + d];
            zr[j * cols + c + d] = re * wr - im * wi;
            zi[j * cols + c + d] = re * wi + im * wr;
          }
        }
      });
    }
  });
}

void cpu_transform::columns_back(double* z) const {
  const index_t m = points(), cols = length_.cols;
  double* const zr = z;
  double* const zi = z + m;
  cpu::for_each_range(cols / lanes, 1, [&](index_t begin, index_t end) {
    room r(length_.rows);
    for (index_t c = begin * lanes; c < end * lanes; c += lanes) {
      const tile x = r.at(0);
      cpu::widest([&]() FURROW_INLINE {
        for (index_t j = 0; j < length_.rows; ++j) {
          const complex_number e = roots_(4 * c * j);
          const double* const tr = twist_.data() + 2 * j * lanes;
          const double* const ti = tr + lanes;
#pragma omp simd
          for (index_t d = 0; d < lanes; ++d) {
            const double wr = e.re * tr[d] - e.im * ti[d], wi = e.re * ti[d] + e.im * tr[d];
            const double re = zr[j * cols + c + d], im = zi[j * cols + c + d];
            x.re[j * lanes + d] = re * wr + im * wi;
            x.im[j * lanes + d] = im * wr - re * wi;
          }
        }
      });
      const tile y = swapped(by_rows_.run(swapped(x), r.at(1)));
      for (index_t j = 0; j < length_.rows; ++j) {
        std::copy_n(y.re + j * lanes, lanes, zr + j * cols + c);
        std::copy_n(y.im + j * lanes, lanes, zi + j * cols + c);
      }
    }
  });
}

void cpu_transform::load_rows(const double* z, index_t first, tile t) const {
  const index_t m = points(), cols = length_.cols;
  for (index_t l = 0; l < lanes; ++l) {
    const double* const from = z + (first + l) * cols;
    for (index_t k = 0; k < cols; ++k) t.re[k * lanes + l] = from[k];
    for (index_t k = 0; k < cols; ++k) t.im[k * lanes + l] = from[m + k];
  }
}

void cpu_transform::store_rows(double* z, index_t first, tile t) const {
  const index_t m = points(), cols = length_.cols;
  for (index_t l = 0; l < lanes; ++l) {
    double* const to = z + (first + l) * cols;
    for (index_t k = 0; k < cols; ++k) to[k] = t.re[k * lanes + l];
    for (index_t k = 0; k < cols; ++k) to[m + k] = t.im[k * lanes + l];
  }
}

template <class F> void cpu_transform::each_row_tile(F body) const {
  cpu::for_each_range(length_.rows / lanes, 1, [&](index_t begin, index_t end) {
    room r(length_.cols);
    for (index_t first = begin * lanes; first < end * lanes; first += lanes) body(r, first);
  });
}

void cpu_transform::rows_pair(double* z, const double* second) const {
  const index_t n = length_.cols * lanes;
  each_row_tile([&](room& r, index_t first) {
    load_rows(z, first, r.at(0));
    const tile v = by_cols_.run(r.at(0), r.at(1));
    const tile free = v.re == r.at(0).re ? r.at(1) : r.at(0);
    for (index_t t = 0; t < n; ++t) v.re[t] *= v.im[t];
    if (second) {
      load_rows(second, first, r.at(2));
      const tile w = by_cols_.run(r.at(2), free);
      for (index_t t = 0; t < n; ++t) v.im[t] = w.re[t] * w.im[t];
    } else {
      std::fill_n(v.im, n, 0.0);
    }
    store_rows(z, first, swapped(by_cols_.run(swapped(v), free)));
  });
}

void cpu_transform::rows_fixed(double* z, const double* values) const {
  const index_t n = length_.cols * lanes;
  each_row_tile([&](room& r, index_t first) {
    load_rows(z, first, r.at(0));
    const tile v = by_cols_.run(r.at(0), r.at(1));
    const tile free = v.re == r.at(0).re ? r.at(1) : r.at(0);
    const double* const a = values + first * length_.cols;
    for (index_t t = 0; t < n; ++t) v.re[t] *= a[t];
    for (index_t t = 0; t < n; ++t) v.im[t] *= a[t];
    store_rows(z, first, swapped(by_cols_.run(swapped(v), free)));
  });
}

void cpu_transform::values(const double* z, double* values) const {
  each_row_tile([&](room& r, index_t first) {
    load_rows(z, first, r.at(0));
    const tile v = by_cols_.run(r.at(0), r.at(1));
    std::copy_n(v.re, length_.cols * lanes, values + first * length_.cols);
  });
}

void cpu_transform::coefficients(const double* z, bool imaginary, index_t count, double scale, double* c) const {
  const index_t m = points();
  const double half = scale / (4.0 * double(m)); // 1 / (2 M) of the transform, 1/2 of taking the parts of W apart
  cpu::for_each_range((count + lanes - 1) / lanes, 1024, [&](index_t begin, index_t end) {
    cpu::widest([&]() FURROW_INLINE {
      for (index_t k = begin * lanes; k < std::min(count, end * lanes); k += lanes) {
        const complex_number e = roots_(k);
        const index_t some = std::min(lanes, count - k);
        for (index_t d = 0; d < some; ++d) {
          const index_t mirror = k + d == 0 ? 0 : m - k - d;
          const double er = e.re * low_re_[d] - e.im * low_im_[d], ei = e.re * low_im_[d] + e.im * low_re_[d];
          const double here_re = z[k + d], here_im = z[m + k + d], there_re = z[mirror], there_im = z[m + mirror];
          const double re = imaginary ? here_im + there_im : here_re + there_re;
          const double im = imaginary ? there_re - here_re : here_im - there_im;
          c[k + d] = half * (er * re + ei * im);
        }
      }
    });
  });
}

} // namespace furrow::chebyshev
