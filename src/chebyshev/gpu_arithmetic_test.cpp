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

/// What the lanes of a warp bring to the matrix units, in the order in which they do.
struct operands {
  int block;
  double q[4], p[2];
};

/// multiply_matrices for a whole warp, as the instruction is documented.
void multiply_played(const std::vector<operands> (&of_lane)[32], std::size_t at,
                     double (&sum)[32][sum_tile::blocks][4]) {
  double q[16][8], p[8][8];
  for (int lane = 0; lane < 32; ++lane) {
    const operands& o = of_lane[lane][at];
    for (int v = 0; v < 4; ++v) q[lane / 4 + v % 2 * 8][lane % 4 + v / 2 * 4] = o.q[v];
    for (int v = 0; v < 2; ++v) p[lane % 4 + v * 4][lane / 4] = o.p[v];
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int v = 0; v < 4; ++v)
      for (int k = 0; k < 8; ++k)
        sum[lane][of_lane[lane][at].block][v] += q[lane / 4 + v / 2 * 8][k] * p[k][lane % 4 * 2 + v % 2];
}

/// sums_kernel, block by block, warp by warp and lane by lane.
template <class V> host_array<V> play_sums(cview<V> a, cview<V> b, const product_options& o, index_t processors) {
  using t = sum_tile;
  const product_shape shape{a.size, b.size, o.keep.value_or(a.size + b.size - 1)};
  const sum_plan plan = cut_sums(shape, 1, processors);
  std::vector<double> total(plan.tiles * t::size), p(room_of_p), q(room_of_q);
  for (const sum_piece& piece : plan.pieces) {
    const int k0 = piece.tile * t::size;
    const int stage = std::min(plan.stage, piece.terms);
    for (int done = 0; done < piece.terms; done += stage) {
      const int i = piece.begin + done, j = k0 - i - stage + 1;
      const bool plain = o.series == convention::plain;
      std::fill(p.begin(), p.end(), NAN); // what is read must have been put there
      std::fill(q.begin(), q.end(), NAN);
      const auto add = [&](int first, int last) {
        for (int warp = 0; warp < t::warps; ++warp) {
          std::vector<operands> of_lane[32];
          for (int lane = 0; lane < 32; ++lane)
            add_terms(p.data(), q.data(), stage, first, last, warp * 32 + lane,
                      [&](int block, const double(&of_q)[4], const double(&of_p)[2]) {
                        of_lane[lane].push_back({block, {of_q[0], of_q[1], of_q[2], of_q[3]}, {of_p[0], of_p[1]}});
                      });
          double sum[32][t::blocks][4] = {};
          for (std::size_t at = 0; at < of_lane[0].size(); ++at) multiply_played(of_lane, at, sum);
          for (int lane = 0; lane < 32; ++lane)
            for (int r = 0; r < t::blocks; ++r)
              for (int v = 0; v < 4; ++v) total[k0 + place_of_sum(lane, r, v).coefficient()] += sum[lane][r][v];
        }
      };
      const auto bring = [&]<int MostP, int MostQ, int Threads>(stage_part part) {
        for (int rank = 0; rank < Threads; ++rank) {
          stage_elements<V, MostP, MostQ, Threads> elements;
          elements.load(a.data, int(a.size), b.data, int(b.size), i + part.of_p, j + part.of_q, rank);
          elements.store(p.data(), q.data(), i, j, part, plain, rank);
        }
      };
      if (!plan.alone) {
        bring.template operator()<t::of_p(t::most_stage), t::of_q(t::most_stage), 256>(stage_part::whole(stage));
        add(0, stage);
        continue;
      }
      const int head = std::min(stage, t::most_head);
      constexpr int rest = t::most_stage - t::most_head;
      bring.template operator()<t::of_p(t::most_head), t::of_q(t::most_head), 384>(stage_part::head(stage, head));
      add(0, head);
      bring.template operator()<rest, rest, 128>(stage_part::rest(stage, head));
      add(head, stage);
    }
  }
  host_array<V> c(shape.keep, V(0));
  for (index_t k = 0; k < shape.nonzero(); ++k) c[k] = V(coefficient_of(total[k], k, o.series));
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
  using t = sum_tile;
  for (const index_t na : {1, 100, 5000, 100000})
    for (const index_t nb : {1, 3000, 100000})
      for (const index_t processors : {1, 20, 132}) {
        const product_shape shape{na, nb, na + nb - 1};
        const sum_plan plan = cut_sums(shape, 1, processors);
        EXPECT_GE(plan.stage, t::least_stage);
        EXPECT_LE(plan.stage, t::most_stage);
        EXPECT_EQ(plan.stage % t::step, 0);
        EXPECT_LE(index_t(plan.pieces.size()), many_blocks * processors + 2 * plan.tiles);
        std::size_t at = 0;
        for (index_t tile = 0; tile < plan.tiles; ++tile) {
          const index_range all = tile_terms(shape, tile);
          EXPECT_LE(all.begin, std::max(1 - na, tile * t::size - (nb - 1)));
          EXPECT_GE(all.end, std::min(na - 1, tile * t::size + t::stride - 1 + nb - 1) + 1);
          const int chunks = plan.pieces[at].chunks;
          EXPECT_LE(chunks, plan.chunks);
          index_t term = all.begin;
          for (int chunk = 0; chunk < chunks; ++chunk, ++at) {
            const sum_piece& piece = plan.pieces[at];
            EXPECT_EQ(piece.tile, tile);
            EXPECT_EQ(piece.chunk, chunk);
            EXPECT_EQ(piece.chunks, chunks);
            EXPECT_EQ(piece.begin, term);
            EXPECT_LT(term, all.end);
            EXPECT_TRUE(piece.terms <= plan.stage || (!plan.alone && piece.terms % plan.stage == 0));
            EXPECT_EQ(piece.terms % t::step, 0);
            term += piece.terms;
          }
          EXPECT_GE(term, all.end);
        }
        EXPECT_EQ(at, plan.pieces.size());
      }
}

/// Ten thousand coefficients are one block for each of 132 multiprocessors, nearly all of them busy.
TEST(chebyshev_sum_plan, fills_the_device) {
  const sum_plan plan = cut_sums({10000, 10000, 10000}, 1, 132);
  EXPECT_TRUE(plan.alone);
  EXPECT_LE(plan.pieces.size(), 132u);
  EXPECT_GE(plan.pieces.size(), 128u);
  EXPECT_LE(double(plan.stage) * sum_tile::size * 132, 1.13 * 1.5e8);
}

TEST(chebyshev_sum_tile, meets_every_coefficient_once) {
  std::vector<int> met(sum_tile::size);
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < sum_tile::blocks; ++r)
      for (int v = 0; v < 4; ++v) ++met[place_of_sum(lane, r, v).coefficient()];
  for (const int times : met) EXPECT_EQ(times, 1);
}

/// What a warp leaves is read by pairs: neighbours side by side, at a multiple of 16 bytes, all in the warp's row.
TEST(chebyshev_sum_tile, leaves_pairs_of_neighbours) {
  std::vector<int> met(tile_place::row);
  for (int k = 0; k < sum_tile::size; ++k) {
    const tile_place place = tile_place::of(unsigned(k));
    EXPECT_EQ(place.coefficient(), k);
    ASSERT_LT(place.left(), tile_place::row);
    EXPECT_EQ(++met[place.left()], 1);
    if (k % 2 == 1) {
      EXPECT_EQ(place.left(), tile_place::of(unsigned(k - 1)).left() + 1);
    } else {
      EXPECT_EQ(place.left() % 2, 0);
    }
  }
  EXPECT_EQ(tile_place::row % 2, 0);
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
