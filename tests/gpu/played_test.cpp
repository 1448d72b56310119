// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "chebyshev/played.hpp"
#include "formats/played.hpp"
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/formats.hpp>
#include <furrow/stats.hpp>

#include <fmt/format.h>

/// What is played without a GPU has the bits of the GPU.
namespace furrow::play {
namespace {

template <class V> struct gpu_played : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_played, precisions);

constexpr double most_places = 1e5; // of a matrix that is played in a moment

/// y <- 2 A x + beta y by one kernel, played and on the device.
template <class V>
void check_bits(device gpu, const format_entry& format, std::string_view kernel, play_product<V> product,
                const coo<V>& a, V beta) {
  const auto x = kit::random_vector<V>(a.shape.cols, 107);
  auto y = kit::random_vector<V>(a.shape.rows, 108);
  const auto op = format.backend(gpu).template make<V>()(a, {}, kernel);
  const gpu_array<V> there_x(x);
  gpu_array<V> there_y(y);
  op->apply(V(2), as_cview(there_x), beta, as_view(there_y));
  product({a, {}, V(2), as_cview(x), beta, as_view(y)}, kernel, {});
  EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_y)), as_cview(y)));
}

TYPED_TEST(gpu_played, products_have_the_bits_of_the_gpu) {
  using V = TypeParam;
  index_t compared = 0;
  for (const auto* f : played_formats()) {
    const format_entry& format = find_format(f->format);
    for (const auto kernel : f->kernels)
      for (const auto& m : kit::battery()) {
        const auto a = kit::as_precision<V>(m.a);
        const auto stored = format.lay_out(measure(a), precision_of<V>, {});
        if (!stored.refusal.empty() || stored.places > most_places) continue;
        SCOPED_TRACE(fmt::format("{}: {} {}", m.name, f->format, kernel));
        for (const V beta : {V(0), V(-0.5)})
          check_bits<V>(this->gpu, format, kernel, f->template product<V>(), a, beta);
        ++compared;
      }
  }
  EXPECT_GT(compared, 100);
}

TYPED_TEST(gpu_played, products_of_series_have_the_bits_of_the_gpu) {
  using V = TypeParam;
  using enum chebyshev::algorithm;
  for (const auto how : {thread, block, warp})
    for (const auto& [na, nb] : {std::pair<index_t, index_t>{1, 1}, {7, 5}, {33, 64}, {300, 300}, {1000, 3}}) {
      SCOPED_TRACE(fmt::format("{} {} x {}", chebyshev::name_of(how), na, nb));
      const auto a = kit::random_vector<V>(na, 1), b = kit::random_vector<V>(nb, 2);
      const auto there = chebyshev::multiply<V>(as_cview(a), as_cview(b), {.how = how, .where = this->gpu});
      host_array<V> here(there.size());
      chebyshev::play_product<V>(as_cview(a), as_cview(b), {}, how, as_view(here), {});
      EXPECT_TRUE(kit::same_bits(as_cview(there), as_cview(here)));
    }
}

} // namespace
} // namespace furrow::play
