// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/play/sum_block.hpp"

#include "backends/gpu/play/rows.hpp"
#include "backends/gpu/unfused_kernels.hpp"

#include "play.hpp"

#include <furrow/array.hpp>

namespace furrow::unfused {
namespace {

template <int Lanes, class V>
play::kernel_report add_on(cview<V> v1, V alpha, cview<V> v2, view<V> sum, const play::settings& how) {
  using N = play::real<V, Lanes>;
  play::machine m(how);
  if (v1.data != sum.data) m.add("v1", view<const V>(v1));
  if (v2.data != sum.data) m.add("v2", view<const V>(v2));
  m.add("sum", sum);
  return m.play("add", play::blocks_for(sum.size, vector_threads, true), vector_threads, [&] {
    add_kernel<N>(play::as_played<Lanes>(view<const V>(v1)), N(alpha), play::as_played<Lanes>(view<const V>(v2)),
                  play::as_played<Lanes>(sum));
  });
}

template <int Lanes, class V>
play::kernel_report dot_on(cview<V> x, cview<V> y, double& total, const play::settings& how) {
  using N = play::real<V, Lanes>;
  const play::size3 blocks = play::blocks_for(x.size, vector_threads, true);
  host_array<double> partial(blocks.x);
  play::machine m(how);
  m.add("x", view<const V>(x));
  if (y.data != x.data) m.add("y", view<const V>(y));
  m.add("partial", as_view(partial));
  auto report = m.play("dot", blocks, vector_threads, [&] {
    dot_kernel<N>(play::as_played<Lanes>(view<const V>(x)), play::as_played<Lanes>(view<const V>(y)),
                  play::as_played<Lanes>(as_view(partial)));
  });
  total = 0;
  for (const double share : partial) total += share;
  return report;
}

} // namespace

template <class V>
play::kernel_report play_add(cview<V> v1, V alpha, cview<V> v2, view<V> sum, const play::settings& how) {
  return how.wave == 64 ? add_on<64>(v1, alpha, v2, sum, how) : add_on<32>(v1, alpha, v2, sum, how);
}
template <class V> play::kernel_report play_dot(cview<V> x, cview<V> y, double& total, const play::settings& how) {
  return how.wave == 64 ? dot_on<64>(x, y, total, how) : dot_on<32>(x, y, total, how);
}

#define FURROW_PLAYED_VECTORS(V)                                                                                       \
  template play::kernel_report play_add(cview<V>, V, cview<V>, view<V>, const play::settings&);                        \
  template play::kernel_report play_dot(cview<V>, cview<V>, double&, const play::settings&);
FURROW_PLAYED_VECTORS(double)
FURROW_PLAYED_VECTORS(float)
#undef FURROW_PLAYED_VECTORS

} // namespace furrow::unfused
