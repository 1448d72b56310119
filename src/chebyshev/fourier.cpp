// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"
#include "lengths.hpp"
#include "tile_fft.hpp"

#include <utility>

namespace furrow::chebyshev {
namespace {

std::size_t place(index_t i) { return static_cast<std::size_t>(i); }

/// x_k -> sum_j x_j e^(2 pi i j k / n), n a multiple of tile_lanes: x lies in memory as tile_lanes sequences side by
/// side, which are transformed together, and what is left are transforms of tile_lanes numbers.
class long_transform {
public:
  explicit long_transform(index_t n) : part_(n / tile_lanes), columns_(part_), roots_(n), room_re_(n), room_im_(n) {}

  void run(host_array<double>& re, host_array<double>& im) {
    const tile x{re.data(), im.data()}, room{room_re_.data(), room_im_.data()};
    const tile from = columns_.run(x, room);
    const bool stayed = from.re == x.re;
    const tile to = stayed ? room : x;
    for (index_t j = 0; j < part_; ++j) across(from, to, j);
    if (!stayed) return;
    std::swap(re, room_re_);
    std::swap(im, room_im_);
  }

private:
  void across(tile from, tile to, index_t j) const {
    static_assert(tile_lanes == 8);
    constexpr double r = 0.707106781186547524400844362104849039;
    constexpr complex_number eighth[] = {{1, 0}, {r, r}, {0, 1}, {-r, r}};
    constexpr index_t reversed[] = {0, 4, 2, 6, 1, 5, 3, 7};
    complex_number z[8];
    for (index_t d = 0; d < 8; ++d) z[d] = complex_number{from.re[8 * j + d], from.im[8 * j + d]} * roots_(j * d);
    for (int half = 4; half > 0; half /= 2)
      for (int p = 0; p < 8; ++p) {
        if (p & half) continue;
        const complex_number a = z[p], b = z[p + half];
        z[p] = a + b;
        z[p + half] = (a - b) * eighth[p % half * (4 / half)];
      }
    for (index_t p = 0; p < 8; ++p) {
      to.re[j + part_ * reversed[p]] = z[p].re;
      to.im[j + part_ * reversed[p]] = z[p].im;
    }
  }

  index_t part_;
  tile_fft columns_;
  root_table roots_;
  host_array<double> room_re_, room_im_;
};

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
  if (fits) {
    host_array<double> re(n), im(n);
    for (index_t k = 0; k < n; ++k) re[k] = x[place(k)].re, im[k] = x[place(k)].im;
    long_transform(n).run(im, re); // the parts in each other's place: the other sign
    for (index_t k = 0; k < n; ++k) x[place(k)] = {re[k], im[k]};
    return;
  }
  host_array<double> a_re(length, 0.0), a_im(length, 0.0), b_re(length, 0.0), b_im(length, 0.0);
  std::vector<complex_number> turn(x.size());
  for (index_t k = 0; k < n; ++k) {
    turn[place(k)] = chirp(k, n);
    const complex_number c = turn[place(k)], a = x[place(k)] * c;
    a_re[k] = a.re, a_im[k] = a.im;
    for (const index_t at : {k, k > 0 ? length - k : k}) b_re[at] = c.re, b_im[at] = -c.im;
  }
  long_transform t(length);
  t.run(a_re, a_im);
  t.run(b_re, b_im);
  for (index_t k = 0; k < length; ++k) {
    const complex_number c = complex_number{a_re[k], a_im[k]} * complex_number{b_re[k], b_im[k]};
    a_re[k] = c.re, a_im[k] = c.im;
  }
  t.run(a_im, a_re); // back
  const double scale = 1 / static_cast<double>(length);
  for (index_t k = 0; k < n; ++k) x[place(k)] = complex_number{a_re[k] * scale, a_im[k] * scale} * turn[place(k)];
}

} // namespace furrow::chebyshev
