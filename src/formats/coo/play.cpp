// SPDX-License-Identifier: BSD-3-Clause
#include "play.hpp"

#include "formats/played.hpp"

#include <array>

namespace furrow::coo_format {
namespace {

template <int Lanes, class V>
std::vector<play::kernel_report> play_on(const play::task<V>& t, const play::settings& how) {
  const V zero(0);
  for (V& v : t.y) store(zero, zero, t.beta, v); // a pass over y, as on the GPU
  play::machine m(how);
  m.add("x", view<const V>(t.x));
  m.add("y", t.y);
  const triplets<V, cview> a{t.a.shape, as_cview(t.a.row), as_cview(t.a.col), as_cview(t.a.val)};
  return play_segmented<Lanes>(m, a, t.alpha, t.x, t.y);
}

template <class V>
std::vector<play::kernel_report> play_product(const play::task<V>& t, std::string_view, const play::settings& how) {
  return how.wave == 64 ? play_on<64>(t, how) : play_on<32>(t, how);
}

constexpr std::array<std::string_view, 1> kernels{"segmented"};

} // namespace

extern const play::played_format played{"coo", kernels, play_product<double>, play_product<float>};

} // namespace furrow::coo_format
