// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/play/kernels.hpp"

#include "classic_kernels.hpp"
#include "played.hpp"

#include "core/check.hpp"

#include <string>

namespace furrow::play {

/// `gpu::sum_block` for warps of 64 lanes; those of 32 have its own text.
template <int Threads, class T> real<T, 64> sum_block(real<T, 64> value, real<T, 64>* room) {
  value = gpu::sum_lanes<64>(value);
  if (running->rank == 0) room[running->thread.x / 64] = value;
  wait_for_block();
  value = running->thread.x < Threads / 64 ? room[running->thread.x] : real<T, 64>(0);
  if (running->thread.x < 64) value = gpu::sum_lanes<64>(value);
  return value;
}

} // namespace furrow::play

namespace furrow::chebyshev {
namespace {

template <int Lanes, class V>
play::kernel_report play_on(cview<V> a, cview<V> b, convention series, algorithm how, view<V> c,
                            const play::settings& settings) {
  using N = play::real<V, Lanes>;
  play::machine m(settings);
  m.add("a", view<const V>(a));
  m.add("b", view<const V>(b));
  m.add("c", c);
  const view<const N> pa = play::as_played<Lanes>(view<const V>(a)), pb = play::as_played<Lanes>(view<const V>(b));
  const view<N> pc = play::as_played<Lanes>(c);
  const classic_job<N> job{{pa.data}, {pb.data}, {pc.data}, {a.size, b.size, c.size}, series};
  const index_t per_block = how == algorithm::thread  ? classic_threads
                            : how == algorithm::block ? 1
                                                      : classic_threads / Lanes;
  const auto blocks = static_cast<unsigned>((c.size + per_block - 1) / per_block);
  const auto kernel = how == algorithm::thread  ? thread_kernel<N>
                      : how == algorithm::block ? block_kernel<N>
                                                : warp_kernel<N>;
  return m.play(std::string(name_of(how)), {blocks, 1, 1}, classic_threads, [&] { kernel(job, 0); });
}

} // namespace

template <class V>
play::kernel_report play_product(cview<V> a, cview<V> b, convention series, algorithm how, view<V> c,
                                 const play::settings& settings) {
  check(how == algorithm::thread || how == algorithm::block || how == algorithm::warp, fault::usage,
        "algorithm {} is no classic kernel, and only those are played: choose thread, block or warp", name_of(how));
  return settings.wave == 64 ? play_on<64>(a, b, series, how, c, settings)
                             : play_on<32>(a, b, series, how, c, settings);
}

template play::kernel_report play_product(cview<double>, cview<double>, convention, algorithm, view<double>,
                                          const play::settings&);
template play::kernel_report play_product(cview<float>, cview<float>, convention, algorithm, view<float>,
                                          const play::settings&);

} // namespace furrow::chebyshev
