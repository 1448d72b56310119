// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/play/sum_block.hpp"

#include "classic_kernels.hpp"
#include "played.hpp"

#include "core/check.hpp"

#include <string>

namespace furrow::chebyshev {
namespace {

template <int Lanes, class V>
play::kernel_report play_on(cview<V> a, cview<V> b, convention series, algorithm how, view<V> c,
                            const play::settings& settings, int threads) {
  using N = play::real<V, Lanes>;
  play::machine m(settings);
  m.add("a", view<const V>(a));
  m.add("b", view<const V>(b));
  m.add("c", c);
  const view<const N> pa = play::as_played<Lanes>(view<const V>(a)), pb = play::as_played<Lanes>(view<const V>(b));
  const view<N> pc = play::as_played<Lanes>(c);
  const classic_job<N> job{{pa.data}, {pb.data}, {pc.data}, {a.size, b.size, c.size}, series};
  const auto blocks = static_cast<unsigned>(classic_blocks(how, threads, Lanes, c.size));
  const auto kernel = classic_kernel_of<N>(how, threads);
  return m.play(std::string(name_of(how)), {blocks, 1, 1}, threads, [&] { kernel(job, 0); });
}

} // namespace

template <class V>
play::kernel_report play_product(cview<V> a, cview<V> b, convention series, algorithm how, view<V> c,
                                 const play::settings& settings, int block) {
  check(is_classic(how), fault::usage,
        "algorithm {} is no classic kernel, and only those are played: choose thread, block, block_sweep or warp",
        name_of(how));
  const int threads = classic_block(how, block, settings.wave);
  return settings.wave == 64 ? play_on<64>(a, b, series, how, c, settings, threads)
                             : play_on<32>(a, b, series, how, c, settings, threads);
}

template play::kernel_report play_product(cview<double>, cview<double>, convention, algorithm, view<double>,
                                          const play::settings&, int);
template play::kernel_report play_product(cview<float>, cview<float>, convention, algorithm, view<float>,
                                          const play::settings&, int);

} // namespace furrow::chebyshev
