// SPDX-License-Identifier: BSD-3-Clause
#include "play.hpp"

#include "backends/gpu/play/rows.hpp"

#include "convert.hpp"

#include "formats/played.hpp"
#include "gemv/tutorial.hpp"

#include <furrow/storage.hpp>

#include <array>

namespace furrow {

namespace dense {

/// A call as a played kernel takes it: rows that are contiguous, one vector.
template <class T, int Lanes> struct call<play::real<T, Lanes>> {
  using value = play::real<T, Lanes>;
  const value* a;
  index_t lines, length, leading;
  value alpha, beta;
  const value* x;
  value* y;
  index_t x_stride = 1, y_stride = 1;
};

} // namespace dense

namespace dense_format {
namespace {

template <int Lanes, class V>
play::kernel_report play_lines(cview<V> a, std::string_view kernel, V alpha, cview<V> x, V beta, view<V> y,
                               const play::settings& how) {
  using N = play::real<V, Lanes>;
  const index_t lines = y.size, length = x.size;
  play::machine m(how);
  m.add("A", view<const V>(a));
  m.add("x", view<const V>(x));
  m.add("y", y);
  const view<const N> pa = play::as_played<Lanes>(view<const V>(a)), px = play::as_played<Lanes>(view<const V>(x));
  const view<N> py = play::as_played<Lanes>(y);
  const int asked = read_kernel_numbers(kernel).block, threads = asked ? asked : dense::tutorial_threads;
  const auto run = kernel_name(kernel) == "naive" ? dense::naive_kernel<N> : dense::tiled_in_blocks<N>(threads);
  return m.play(std::string(kernel), play::blocks_for(lines, threads), threads, [&] {
    run({pa.data, lines, length, length, N(alpha), N(beta), px.data, py.data});
  });
}

} // namespace

template <class V>
play::kernel_report play_gemv(cview<V> a, std::string_view kernel, V alpha, cview<V> x, V beta, view<V> y,
                              const play::settings& how) {
  return how.wave == 64 ? play_lines<64>(a, kernel, alpha, x, beta, y, how)
                        : play_lines<32>(a, kernel, alpha, x, beta, y, how);
}

template play::kernel_report play_gemv(cview<double>, std::string_view, double, cview<double>, double, view<double>,
                                       const play::settings&);
template play::kernel_report play_gemv(cview<float>, std::string_view, float, cview<float>, float, view<float>,
                                       const play::settings&);

namespace {

template <class V>
std::vector<play::kernel_report> play_product(const play::task<V>& t, std::string_view kernel,
                                              const play::settings& how) {
  const auto home = to_dense(t.a);
  return {play_gemv(as_cview(home.val), kernel, t.alpha, t.x, t.beta, t.y, how)};
}

constexpr std::array<std::string_view, 2> kernels{"tiled", "naive"};

} // namespace

extern const play::played_format played{"dense", kernels, play_product<double>, play_product<float>};

} // namespace dense_format
} // namespace furrow
