// SPDX-License-Identifier: BSD-3-Clause
// The classic kernels with other lanes and blocks than usual, on the GPU.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/row_error.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/stats.hpp>
#include <furrow/vector_operations.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace furrow {
namespace {

template <class V> struct gpu_numbers : on_gpu_in<V> {
  host_array<V> product(const std::string& format, const std::string& kernel, const coo<V>& a, const host_array<V>& x) {
    const auto op = make<V>(choose(measure(a), precision_of<V>, this->gpu, {format, kernel}), this->gpu, a);
    EXPECT_EQ(op->kernel(), kernel);
    const gpu_array<V> there(x);
    gpu_array<V> y(a.shape.rows, std::numeric_limits<V>::quiet_NaN());
    op->apply(V(2), there, V(0), y);
    const host_array<V> got(y);
    if (a.shape.rows == a.shape.cols) { // x . y comes by a pass of its own
      gpu_array<double> sum(1, 0.0);
      op->apply_dot(there, y, {sum.data()});
      const double expected = dot<V>(there, y);
      EXPECT_NEAR(host_array<double>(sum)[0], expected, 1e-10 * (1 + std::abs(expected))) << format << ' ' << kernel;
    }
    // So do b, copied first, and other sums.
    const host_array<V> b = kit::random_vector<V>(a.shape.rows, 108);
    const gpu_array<V> b_there(b);
    gpu_array<V> r(a.shape.rows, std::numeric_limits<V>::quiet_NaN()), separate(b);
    const host_array<V> w = kit::random_vector<V>(a.shape.rows, 109);
    const gpu_array<V> w_there(w);
    gpu_array<double> sums(6, 0.0);
    op->apply_with(there, r, {b_there, {r, {sums.data() + 5}}});
    op->apply_with(there, r, {b_there, {}, {b_there, w_there, {sums.data()}}});
    op->apply(V(-1), there, V(1), separate);
    EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(r)), as_cview(host_array<V>(separate))))
        << format << ' ' << kernel;
    const double expected[] = {
        dot<V>(r, r), dot<V>(b_there, r), dot<V>(w_there, r), dot<V>(b_there, b_there), dot<V>(b_there, w_there),
        dot<V>(r, r)};
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(host_array<double>(sums)[k], expected[k], 1e-10 * (1 + expected[0] + expected[3]))
          << format << ' ' << kernel << ", sum " << k;
    return got;
  }
};
TYPED_TEST_SUITE(gpu_numbers, precisions);

TYPED_TEST(gpu_numbers, of_lanes_and_blocks_leave_every_product_right) {
  using V = TypeParam;
  for (const char* spec :
       {"poisson2d:50", "random:3000:40", "powerlaw:5000:6:2.2", "rectangular:40:700:50", "dense:300"}) {
    const auto a = kit::as_precision<V>(generate(spec).a);
    const auto x = kit::random_vector<V>(a.shape.cols, 107);
    const host_array<V> nothing(a.shape.rows, V(0));
    const auto truth = kit::reference_product<V>(a, V(2), as_cview(x), V(0), as_cview(nothing));
    const auto expect = [&](const char* format, const std::string& kernel, const host_array<V>* same) {
      const auto got = this->product(format, kernel, a, x);
      EXPECT_LE(kit::row_error(truth, as_cview(got)), 1) << spec << ' ' << format << ' ' << kernel;
      if (same) {
        EXPECT_TRUE(kit::same_bits(as_cview(got), as_cview(*same))) << spec << " " << format << " " << kernel;
      }
      return got;
    };
    for (int block = 32; block <= 1024; block *= 2) {
      const std::string size = "block=" + std::to_string(block);
      for (const char* kernel : {"vector", "scalar", "warp_per_row", "half_warp", "naive"}) {
        const auto usual = expect("csr", kernel, nullptr);
        expect("csr", std::string(kernel) + ":" + size, &usual); // a row's sum knows its lanes alone
      }
      for (int lanes = 2; lanes <= 32; lanes *= 2)
        expect("csr", "vector:lanes=" + std::to_string(lanes) + "," + size, nullptr);
      const bool padded = std::string_view(spec).starts_with("poisson");
      for (const auto& [format, kernel] : {std::pair{"ell", "scalar"}, std::pair{"dia", "rows"}}) {
        if (!padded) continue;
        const auto usual = expect(format, kernel, nullptr);
        expect(format, std::string(kernel) + ":" + size, &usual);
      }
      const auto usual = expect("hyb:bell_garland", "scalar", nullptr);
      expect("hyb:bell_garland", "scalar:" + size, &usual);
      for (const char* kernel : {"naive", "tiled"}) {
        if (!std::string_view(spec).starts_with("dense")) continue; // others would be nearly all zeros
        const auto tutorial = expect("dense", kernel, nullptr);
        expect("dense", std::string(kernel) + ":" + size, &tutorial);
      }
    }
  }
}

TYPED_TEST(gpu_numbers, that_the_hardware_has_not_are_refused) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(10));
  for (const char* kernel : {"vector:lanes=64", "vector:block=2048", "scalar:lanes=2", "stream:block=64"})
    EXPECT_THROW(choose(measure(a), precision_of<V>, this->gpu, {"csr", kernel}), error) << kernel;
}

} // namespace
} // namespace furrow
