// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/play/rows.hpp"

#include "convert.hpp"
#include "diagonals_kernel.hpp"

#include "core/kernel_numbers.hpp"
#include "formats/played.hpp"

#include <furrow/storage.hpp>

#include <array>

namespace furrow {

/// The arrays of a dia as a played kernel takes them.
template <class T, int Lanes, template <class> class Array> struct dia<play::real<T, Lanes>, Array> {
  shape2 shape;
  index_t stride;
  Array<play::whole<std::int32_t>> offset;
  Array<play::real<T, Lanes>> val;
};

namespace dia_format {
namespace {

template <int Lanes, class V>
std::vector<play::kernel_report> play_on(const play::task<V>& t, std::string_view kernel, const play::settings& how) {
  using N = play::real<V, Lanes>;
  const auto home = to_dia(t.a);
  const auto arrays = view_of(home);
  play::machine m(how);
  m.add("offsets", view<const std::int32_t>(arrays.offset)); // `offset` is what a block reads of them
  m.add("val", view<const V>(arrays.val));
  m.add("x", view<const V>(t.x));
  m.add("y", t.y);
  const dia<N, cview> a{home.shape, home.stride, play::as_played<Lanes>(view<const std::int32_t>(arrays.offset)),
                        play::as_played<Lanes>(view<const V>(arrays.val))};
  const cview<N> x = play::as_played<Lanes>(view<const V>(t.x));
  const view<N> y = play::as_played<Lanes>(t.y);
  const int asked = read_kernel_numbers(kernel).block;
  return with_block(asked ? asked : diagonals_threads, [&]<int B>(std::integral_constant<int, B>) {
    return std::vector{m.play(std::string(kernel), play::blocks_for(home.shape.rows, B, true), B, [&] {
      diagonals_kernel<N, 0, B>(a, N(t.alpha), x, N(t.beta), y, gpu::row_end<N, 0>{});
    })};
  });
}

template <class V>
std::vector<play::kernel_report> play_product(const play::task<V>& t, std::string_view kernel,
                                              const play::settings& how) {
  return how.wave == 64 ? play_on<64>(t, kernel, how) : play_on<32>(t, kernel, how);
}

constexpr std::array<std::string_view, 1> kernels{"rows"};

} // namespace

extern const play::played_format played{"dia", kernels, play_product<double>, play_product<float>};

} // namespace dia_format
} // namespace furrow
