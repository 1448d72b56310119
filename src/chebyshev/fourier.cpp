// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"
#include "lengths.hpp"
#include "tile_fft.hpp"

namespace furrow::chebyshev {
namespace {

std::size_t place(index_t i) { return static_cast<std::size_t>(i); }

/// x_k -> sum_j x_j e^(2 pi i j k / n), n a multiple of tile_lanes: x lies in memory as tile_lanes sequences side by
/// side, which are transformed together, and what is left are transforms of tile_lanes numbers.
class long_transform {
public:
  explicit long_transform(index_t n) : part_(n / tile_lanes), columns_(part_), roots_(n), in_(2 * n), room_(2 * n) {}

  void run(std::vector<complex_number>& x) {
    for (index_t j = 0; j < part_; ++j)
      for (index_t d = 0; d < 8; ++d) {
        const complex_number v = x[place(8 * j + d)];
        in_[j * pair_size + d] = v.re, in_[j * pair_size + 8 + d] = v.im;
      }
    const double* const from = columns_.run(in_.data(), room_.data());
    for (index_t j = 0; j < part_; ++j) across(from + j * pair_size, x, j);
  }

private:
  void across(const double* from, std::vector<complex_number>& x, index_t j) const {
    static_assert(tile_lanes == 8);
    constexpr double r = 0.707106781186547524400844362104849039;
    constexpr complex_number eighth[] = {{1, 0}, {r, r}, {0, 1}, {-r, r}};
    constexpr index_t reversed[] = {0, 4, 2, 6, 1, 5, 3, 7};
    complex_number z[8];
    for (index_t d = 0; d < 8; ++d) z[d] = complex_number{from[d], from[8 + d]} * roots_(j * d);
    for (int half = 4; half > 0; half /= 2)
      for (int p = 0; p < 8; ++p) {
        if (p & half) continue;
        const complex_number a = z[p], b = z[p + half];
        z[p] = a + b;
        z[p + half] = (a - b) * eighth[p % half * (4 / half)];
      }
    for (index_t p = 0; p < 8; ++p) x[place(j + part_ * reversed[p])] = z[p];
  }

  index_t part_;
  tile_fft columns_;
  root_table roots_;
  host_array<double> in_, room_;
};

void conjugate(std::vector<complex_number>& x) {
  for (complex_number& v : x) v = v.conjugate();
}

/// exp(-pi i k^2 / n), with k^2 reduced modulo 2 n before it could overflow.
complex_number chirp(index_t k, index_t n) {
  __extension__ using wide = unsigned __int128;
  return unit_root(static_cast<index_t>(wide(k) * wide(k) % wide(2 * n)), 2 * n).conjugate();
}

} // namespace

void fourier(std::vector<complex_number>& x) {
  const auto n = static_cast<index_t>(x.size());
  if (n < 2) return;
  const index_t length = tile_lanes * smooth_length((2 * n - 1 + tile_lanes - 1) / tile_lanes, 5);
  const bool fits = n % tile_lanes == 0 && smooth_length(n / tile_lanes, 5) == n / tile_lanes;
  if (fits) { // with conjugates the other sign
    conjugate(x);
    long_transform(n).run(x);
    return conjugate(x);
  }
  std::vector<complex_number> a(place(length)), b(place(length)), turn(x.size());
  for (index_t k = 0; k < n; ++k) {
    turn[place(k)] = chirp(k, n);
    a[place(k)] = x[place(k)] * turn[place(k)];
    for (const index_t to : {k, k > 0 ? length - k : k}) b[place(to)] = turn[place(k)].conjugate();
  }
  long_transform t(length);
  t.run(a);
  t.run(b);
  for (index_t k = 0; k < length; ++k) a[place(k)] = (a[place(k)] * b[place(k)]).conjugate();
  t.run(a); // back
  const double scale = 1 / static_cast<double>(length);
  for (index_t k = 0; k < n; ++k) {
    const complex_number v = a[place(k)].conjugate();
    x[place(k)] = complex_number{v.re * scale, v.im * scale} * turn[place(k)];
  }
}

} // namespace furrow::chebyshev
