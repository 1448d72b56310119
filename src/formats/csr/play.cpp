// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/play/rows.hpp"

#include "convert.hpp"
#include "row_launch.hpp"

#include "core/check.hpp"
#include "formats/played.hpp"

#include <furrow/storage.hpp>

#include <array>
#include <limits>

namespace furrow {

/// The arrays of a csr as a played kernel takes them.
template <class T, int Lanes, class I, template <class> class Array> struct csr<play::real<T, Lanes>, I, Array> {
  shape2 shape;
  Array<play::whole<I>> row_ptr;
  Array<play::whole<std::int32_t>> col;
  Array<play::real<T, Lanes>> val;
};

namespace csr_format {
namespace {

using offset = std::int32_t;

template <int Lanes, class V>
std::vector<play::kernel_report> play_on(const play::task<V>& t, std::string_view kernel, const play::settings& how) {
  check(t.a.nnz() <= std::numeric_limits<offset>::max(), fault::usage,
        "{} entries are more than a played kernel counts", t.a.nnz());
  const auto home = to_csr<offset>(coo<V>(t.a));
  const auto arrays = view_of(home);
  play::machine m(how);
  m.add("row_ptr", view<const offset>(arrays.row_ptr));
  m.add("col", view<const std::int32_t>(arrays.col));
  m.add("val", view<const V>(arrays.val));
  m.add("x", view<const V>(t.x));
  m.add("y", t.y);
  const csr<play::real<V, Lanes>, offset, cview> a{
      home.shape, play::as_played<Lanes>(view<const offset>(arrays.row_ptr)),
      play::as_played<Lanes>(view<const std::int32_t>(arrays.col)), play::as_played<Lanes>(view<const V>(arrays.val))};
  const index_t rows = home.shape.rows;
  const row_launch launch = classic_launch(kernel, rows ? double(t.a.nnz()) / double(rows) : 0, Lanes);
  return with_width<Lanes>(launch.width, [&]<int W>(std::integral_constant<int, W>) {
    return std::vector{play::play_rows<W, Lanes>(m, kernel, a, launch.fill, t.alpha, t.x, t.beta, t.y, launch.block)};
  });
}

template <class V>
std::vector<play::kernel_report> play_product(const play::task<V>& t, std::string_view kernel,
                                              const play::settings& how) {
  return how.wave == 64 ? play_on<64>(t, kernel, how) : play_on<32>(t, kernel, how);
}

constexpr std::array<std::string_view, 5> kernels{"vector", "scalar", "warp_per_row", "half_warp", "naive"};

} // namespace

extern const play::played_format played{"csr", kernels, play_product<double>, play_product<float>};

} // namespace csr_format
} // namespace furrow
