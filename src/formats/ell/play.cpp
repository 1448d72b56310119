// SPDX-License-Identifier: BSD-3-Clause
#include "play.hpp"

#include "convert.hpp"

#include "formats/played.hpp"

#include <furrow/storage.hpp>

#include <array>

namespace furrow::ell_format {
namespace {

template <int Lanes, class V>
std::vector<play::kernel_report> play_on(const play::task<V>& t, std::string_view kernel, const play::settings& how) {
  const auto home = to_ell(t.a);
  play::machine m(how);
  m.add("x", view<const V>(t.x));
  m.add("y", t.y);
  return {play_scalar<Lanes>(m, kernel, view_of(home), t.alpha, t.x, t.beta, t.y)};
}

template <class V>
std::vector<play::kernel_report> play_product(const play::task<V>& t, std::string_view kernel,
                                              const play::settings& how) {
  return how.wave == 64 ? play_on<64>(t, kernel, how) : play_on<32>(t, kernel, how);
}

constexpr std::array<std::string_view, 1> kernels{"scalar"};

} // namespace

extern const play::played_format played{"ell", kernels, play_product<double>, play_product<float>};

} // namespace furrow::ell_format
