// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "chebyshev/classic.hpp"
#include "chebyshev/played.hpp"
#include "formats/played.hpp"
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "solvers/cg_tutorial/play.hpp"
#include "solvers/cg_tutorial/played.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/stats.hpp>
#include <furrow/vector_operations.hpp>

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

/// Those with numbers behind their names.
TYPED_TEST(gpu_played, other_lanes_and_blocks_have_the_bits_of_the_gpu) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("powerlaw:700:9:2.2").a);
  for (const auto& [name, kernel] : {std::pair{"csr", "vector:lanes=2,block=32"},
                                     {"csr", "vector:lanes=16,block=1024"},
                                     {"csr", "warp_per_row:block=64"},
                                     {"csr", "naive:block=512"},
                                     {"ell", "scalar:block=1024"},
                                     {"dense", "tiled:block=1024"},
                                     {"dense", "tiled:block=32"},
                                     {"dense", "naive:block=128"}}) {
    SCOPED_TRACE(fmt::format("{} {}", name, kernel));
    const auto played = find_played(name, kernel);
    for (const V beta : {V(0), V(-0.5)})
      check_bits<V>(this->gpu, find_format(name), kernel, played.format->template product<V>(), a, beta);
  }
}

TYPED_TEST(gpu_played, products_of_series_have_the_bits_of_the_gpu) {
  using V = TypeParam;
  for (const auto how : chebyshev::classic_algorithms)
    for (const int block : {0, 32, 128, 1024})
      for (const auto& [na, nb] : {std::pair<index_t, index_t>{1, 1}, {7, 5}, {33, 64}, {300, 300}, {1000, 3}}) {
        SCOPED_TRACE(fmt::format("{} {} x {}, blocks of {}", chebyshev::name_of(how), na, nb, block));
        const auto a = kit::random_vector<V>(na, 1), b = kit::random_vector<V>(nb, 2);
        const auto there =
            chebyshev::multiply<V>(as_cview(a), as_cview(b), {.how = how, .where = this->gpu, .block = block});
        host_array<V> here(there.size());
        chebyshev::play_product<V>(as_cview(a), as_cview(b), {}, how, as_view(here), {}, block);
        EXPECT_TRUE(kit::same_bits(as_cview(there), as_cview(here)));
      }
}

TYPED_TEST(gpu_played, the_inner_product_has_the_bits_of_the_gpu) {
  using V = TypeParam;
  for (const index_t n : {1, 33, 257, 100003}) {
    const auto x = kit::random_vector<V>(n, 1), y = kit::random_vector<V>(n, 2);
    double here = 0;
    unfused::play_dot<V>(as_cview(x), as_cview(y), here, {});
    EXPECT_EQ(here, dot<V>(gpu_array<V>(x), gpu_array<V>(y))) << n;
  }
}

/// x of a whole solve: product, inner products and sums one after the other.
TYPED_TEST(gpu_played, conjugate_gradients_have_the_bits_of_the_gpu) {
  using V = TypeParam;
  for (const auto& [format, kernel] : {std::pair{"csr", "half_warp"}, {"csr", "naive"}, {"ell", "scalar"}})
    for (const char* spec : {"poisson1d:40", "poisson2d:20", "poisson3d:9"}) {
      SCOPED_TRACE(fmt::format("{} {} {}", spec, format, kernel));
      const auto a = kit::as_precision<V>(generate(spec).a);
      const auto b = kit::random_vector<V>(a.shape.rows, 5);
      auto o = kit::options("cg_tutorial", "none");
      o.format = format;
      o.kernel = kernel;
      o.rtol = sizeof(V) == 8 ? 1e-9 : 1e-4;
      host_array<V> here(a.shape.cols, V(0)), there(a.shape.cols, V(0));
      const auto played = play_cg<V>(a, as_cview(b), as_view(here), format, kernel, o, {});
      o.where = this->gpu;
      const auto real = solve<V>(a, as_cview(b), as_view(there), o);
      EXPECT_EQ(played.report.why, status::converged);
      EXPECT_EQ(played.report.iterations, real.iterations);
      EXPECT_TRUE(kit::same_bits(as_cview(here), as_cview(there)));
    }
}

} // namespace
} // namespace furrow::play
