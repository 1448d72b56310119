// SPDX-License-Identifier: BSD-3-Clause
#include "formats/coo/play.hpp"
#include "formats/ell/play.hpp"

#include "convert.hpp"
#include "rule.hpp"

#include "formats/played.hpp"

#include <furrow/storage.hpp>

#include <array>

namespace furrow::hyb_format {
namespace {

template <int Lanes, class V>
std::vector<play::kernel_report> play_on(const play::task<V>& t, std::string_view kernel, const play::settings& how) {
  const auto reaching = rows_reaching(as_cview(row_lengths(t.a)));
  const auto home = to_hyb(t.a, width_by(t.parameters, reaching, sizeof(V)));
  const auto a = view_of(home);
  play::machine m(how);
  m.add("x", view<const V>(t.x));
  m.add("y", t.y);
  std::vector<play::kernel_report> reports;
  reports.push_back(ell_format::play_scalar<Lanes>(m, kernel, a.regular, t.alpha, t.x, t.beta, t.y));
  for (auto& r : coo_format::play_segmented<Lanes>(m, a.rest, t.alpha, t.x, t.y, "rest_"))
    reports.push_back(std::move(r));
  return reports;
}

template <class V>
std::vector<play::kernel_report> play_product(const play::task<V>& t, std::string_view kernel,
                                              const play::settings& how) {
  return how.wave == 64 ? play_on<64>(t, kernel, how) : play_on<32>(t, kernel, how);
}

constexpr std::array<std::string_view, 1> kernels{"scalar"};

} // namespace

extern const play::played_format played{"hyb", kernels, play_product<double>, play_product<float>};

} // namespace furrow::hyb_format
