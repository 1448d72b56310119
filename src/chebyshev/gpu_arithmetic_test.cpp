// SPDX-License-Identifier: BSD-3-Clause
// The GPU's arithmetic, played on the CPU: every lane, every thread of every block, every element between transforms.
#include "gpu_points.hpp"
#include "sum_tiles.hpp"
#include "unity.hpp"

#include "kit/chebyshev_check.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace furrow::chebyshev {
namespace {

template <class V> struct chebyshev_on_the_gpu : testing::Test {};
using both = testing::Types<double, float>;
TYPED_TEST_SUITE(chebyshev_on_the_gpu, both);

/// The classic kernels: lanes of every width, each coefficient.
TYPED_TEST(chebyshev_on_the_gpu, lanes_share_a_coefficient) {
  using V = TypeParam;
  const auto a = kit::random_vector<V>(45, 1), b = kit::random_vector<V>(60, 2);
  for (const convention series : {convention::plain, convention::primed})
    for (const int width : {1, 32, 256}) {
      const auto p = factor_of(a.data(), a.size(), series), q = factor_of(b.data(), b.size(), series);
      host_array<V> c(a.size() + b.size() - 1);
      for (index_t k = 0; k < c.size(); ++k) {
        V sum = 0;
        for (int rank = 0; rank < width; ++rank) sum += partial(lanes{rank, width}, p, q, k);
        c[k] = coefficient_of(sum, k, series);
      }
      kit::expect_product<V>(as_cview(a), as_cview(b), as_cview(c), {.series = series}, algorithm::direct);
    }
}

/// sums_kernel, block by block and thread by thread.
template <class V> host_array<V> play_sums(cview<V> a, cview<V> b, const product_options& o, index_t processors) {
  using t = sum_tile_of<V>;
  const product_shape shape{a.size, b.size, o.keep.value_or(a.size + b.size - 1)};
  const sum_plan plan = cut_sums<t>(shape, 1, processors);
  const auto p = factor_of(a.data, a.size, o.series), q = factor_of(b.data, b.size, o.series);
  host_array<V> c(shape.keep, V(0));
  struct alignas(16) room {
    V p[t::most_stage], q[t::tile + t::most_stage];
  };
  const auto r = std::make_unique<room>();
  std::vector<V> total(shape.nonzero());
  for (index_t which = 0; which < plan.tiles; ++which)
    for (index_t chunk = 0; chunk < plan.chunks; ++chunk) {
      if (chunk >= plan.chunks_of(which)) continue;
      const index_range all = plan.chunk(which, chunk);
      std::vector<V> sum(t::warps * t::tile);
      for (index_t i = all.begin; i < all.end; i += plan.stage) {
        for (int x = 0; x < plan.stage; ++x) r->p[x] = stage_p(p, {i, all.end}, x);
        for (int x = 0; x < t::tile + plan.stage; ++x) r->q[x] = stage_q(q, which * t::tile, i, plan.stage, x);
        for (int rank = 0; rank < t::threads; ++rank)
          add_stage(r->p, r->q, plan.stage / t::warps, rank, sum.data() + rank * t::outputs);
      }
      for (index_t k = which * t::tile; k < plan.tile_end(which); ++k)
        for (int warp = 0; warp < t::warps; ++warp) total[k] += sum[warp * t::tile + k - which * t::tile];
    }
  for (index_t k = 0; k < shape.nonzero(); ++k) c[k] = coefficient_of(total[k], k, o.series);
  return c;
}

TYPED_TEST(chebyshev_on_the_gpu, tiles_add_up_every_term_once) {
  using V = TypeParam;
  for (const auto& x : kit::chebyshev_battery(2600)) {
    SCOPED_TRACE(x.name);
    host_array<V> a(x.a.size()), b(x.b.size());
    for (index_t i = 0; i < a.size(); ++i) a[i] = V(x.a[i]);
    for (index_t i = 0; i < b.size(); ++i) b[i] = V(x.b[i]);
    for (const index_t processors : {1, 132}) {
      product_options o;
      if (processors == 1) o.keep = std::max(a.size(), b.size());
      else o.series = convention::primed;
      const auto c = play_sums<V>(as_cview(a), as_cview(b), o, processors);
      kit::expect_product<V>(as_cview(a), as_cview(b), as_cview(c), o, algorithm::direct);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(chebyshev_sum_plan, covers_every_term_of_every_tile) {
  for (const index_t na : {1, 100, 5000, 100000})
    for (const index_t nb : {1, 3000, 100000})
      for (const index_t processors : {1, 20, 132}) {
        const sum_plan p = cut_sums<sum_tile_of<double>>({na, nb, na + nb - 1}, 1, processors);
        index_t total = 0;
        for (index_t t = 0; t < p.tiles; ++t) {
          const index_range all = p.tile_terms(t);
          index_t at = all.begin;
          for (index_t c = 0; c < p.chunks_of(t); ++c) {
            const index_range r = p.chunk(t, c);
            EXPECT_EQ(r.begin, at);
            EXPECT_GT(r.end, r.begin);
            at = r.end;
          }
          EXPECT_EQ(at, all.end);
          EXPECT_LE(p.chunks_of(t), p.chunks);
          total += p.chunks_of(t);
        }
        EXPECT_LE(total, many_blocks * processors + 2 * p.tiles);
        EXPECT_LE(p.stage, sum_tile_of<double>::most_stage);
      }
}

using complex = std::complex<double>;

/// v_m = sum_k x_k e^(sign 2 pi i k m / n)
std::vector<complex> transform(const std::vector<complex>& x, int sign) {
  const auto n = index_t(x.size());
  std::vector<complex> v(x.size());
  for (index_t m = 0; m < n; ++m)
    for (index_t k = 0; k < n; ++k) {
      const complex_number w = unit_root(k * m % n, n);
      v[m] += x[k] * complex(w.re, sign * w.im);
    }
  return v;
}

complex_number half_root(index_t k, index_t m) { return unit_root(k, 4 * m); }

/// pair_kernel or half_kernel, the products, coefficients_kernel, around plain transforms.
template <class V> host_array<V> play_fft(cview<V> a, cview<V> b, const product_options& o, index_t m, bool fixed) {
  squares na, nb;
  for (const V v : a) na.add(double(v));
  for (const V v : b) nb.add(double(v));
  const auto p = scaled_by(factor_of(a.data, a.size, o.series), na.exponent());
  const auto q = scaled_by(factor_of(b.data, b.size, o.series), nb.exponent());
  std::vector<complex> z(m), y(m);
  for (index_t k = 0; k <= m / 2; ++k) {
    const auto put = [&](std::vector<complex>& to, complex_number here, complex_number mirror) {
      to[k] = {here.re, here.im};
      if (k > 0 && 2 * k != m) to[m - k] = {mirror.re, mirror.im};
    };
    const two_numbers w = pair_points(p, q, k, m, half_root(k, m));
    const complex_number u = half_points(p, k, m, half_root(k, m)), v = half_points(q, k, m, half_root(k, m));
    put(z, fixed ? u : w.here, fixed ? complex_number{u.re, -u.im} : w.mirror);
    put(y, v, {v.re, -v.im});
  }
  z = transform(z, 1);
  y = transform(y, 1);
  for (index_t k = 0; k < m; ++k) z[k] = fixed ? z[k].real() * y[k].real() : z[k].real() * z[k].imag();
  const index_t half = m / 2;
  std::vector<complex> w(half);
  for (index_t k = 0; k < half; ++k) w[k] = {z[2 * k].real(), z[2 * k + 1].real()};
  w = transform(w, -1);
  const product_shape shape{a.size, b.size, o.keep.value_or(a.size + b.size - 1)};
  host_array<V> c(shape.keep, V(0));
  const int exponent = na.exponent() + nb.exponent();
  for (index_t k = 0; k <= half / 2; ++k) {
    const complex here = w[k], there = w[k > 0 ? half - k : 0];
    const four_coefficients r = coefficients_from({here.real(), here.imag()}, {there.real(), there.imag()},
                                                  half_root(k, m), half_root(5 * k, m), m);
    const auto put = [&](index_t at, double value) {
      if (at < shape.nonzero()) c[at] = V(std::scalbn(value, exponent));
    };
    put(k, k == 0 && o.series == convention::plain ? 0.5 * r.low : r.low);
    put(half + k, r.above);
    if (k == 0) continue;
    put(m - k, r.high);
    put(half - k, r.below);
  }
  return c;
}

TYPED_TEST(chebyshev_on_the_gpu, points_between_transforms) {
  using V = TypeParam;
  const index_t sizes[][2] = {{1, 1}, {2, 3}, {7, 40}, {40, 7}, {33, 33}, {64, 50}};
  for (const auto& n : sizes)
    for (const bool fixed : {false, true})
      for (const convention series : {convention::plain, convention::primed})
        for (const index_t keep : {n[0] + n[1] - 1, std::max(n[0], n[1])}) {
          const auto a = kit::random_vector<V>(n[0], 3), b = kit::random_vector<V>(n[1], 4);
          const product_options o{series, keep, algorithm::fft, {}, {}};
          const index_t m = gpu_transform_length(points_needed({n[0], n[1], keep}));
          const auto c = play_fft<V>(as_cview(a), as_cview(b), o, m, fixed);
          kit::expect_product<V>(as_cview(a), as_cview(b), as_cview(c), o, algorithm::fft);
        }
}

TEST(chebyshev_norm, neither_overflows_nor_vanishes) {
  const auto exponent = [](std::initializer_list<double> x) {
    squares s;
    for (const double v : x) s.add(v);
    return s.exponent();
  };
  EXPECT_EQ(exponent({3, 4}), 2);
  EXPECT_EQ(exponent({0x1p1000, 1}), 1000);
  EXPECT_EQ(exponent({0x1p-1000, 0x1p-1074}), -1000);
  EXPECT_EQ(exponent({0x1p-1074}), -1074);
  EXPECT_EQ(exponent({std::numeric_limits<double>::max(), 0x1p1000}), 1024); // the largest number rounds up
  EXPECT_EQ(exponent({0, 0}), vanished);
  EXPECT_EQ(exponent({1, std::nan("")}), 0);
  EXPECT_EQ(exponent({1, HUGE_VAL}), 0);
}

} // namespace
} // namespace furrow::chebyshev
