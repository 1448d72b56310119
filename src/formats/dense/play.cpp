// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/play/rows.hpp"

#include "convert.hpp"
#include "tutorial.hpp"

#include "formats/played.hpp"

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
std::vector<play::kernel_report> play_on(const play::task<V>& t, std::string_view kernel, const play::settings& how) {
  using N = play::real<V, Lanes>;
  const auto home = to_dense(t.a);
  const auto [rows, cols] = home.shape;
  const cview<V> a = as_cview(home.val);
  play::machine m(how);
  m.add("A", view<const V>(a));
  m.add("x", view<const V>(t.x));
  m.add("y", t.y);
  const view<const N> pa = play::as_played<Lanes>(view<const V>(a)), px = play::as_played<Lanes>(view<const V>(t.x));
  const view<N> py = play::as_played<Lanes>(t.y);
  const auto run = kernel == "naive" ? dense::naive_kernel<N> : dense::tiled_kernel<N>;
  return {m.play(std::string(kernel), play::blocks_for(rows, dense::tutorial_threads), dense::tutorial_threads,
                 [&, rows = rows, cols = cols] {
                   run({pa.data, rows, cols, cols, N(t.alpha), N(t.beta), px.data, py.data});
                 })};
}

template <class V>
std::vector<play::kernel_report> play_product(const play::task<V>& t, std::string_view kernel,
                                              const play::settings& how) {
  return how.wave == 64 ? play_on<64>(t, kernel, how) : play_on<32>(t, kernel, how);
}

constexpr std::array<std::string_view, 2> kernels{"tiled", "naive"};

} // namespace

extern const play::played_format played{"dense", kernels, play_product<double>, play_product<float>};

} // namespace dense_format
} // namespace furrow
