// SPDX-License-Identifier: BSD-3-Clause
// Values of series and series in an operator on the GPU, beside the same on the CPU.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/formats.hpp>

#include <cmath>
#include <limits>

namespace furrow::chebyshev {
namespace {

template <class V> struct gpu_chebyshev_series : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_chebyshev_series, furrow::precisions);

template <class V> double largest_difference(const host_array<V>& a, const host_array<V>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(double(a[i]) - double(b[i]));
    worst = apart <= worst ? worst : apart; // a NaN stays
  }
  return worst;
}

TYPED_TEST(gpu_chebyshev_series, evaluates_as_the_cpu_does) {
  using V = TypeParam;
  const interval on{-2, 3};
  for (const index_t length : {0, 1, 2, 17, 511, 512, 513, 514, 1025, 3000})
    for (const index_t count : {0, 1, 5, 127, 513, 100003}) {
      const auto a = kit::random_vector<V>(length, 1);
      auto x = kit::random_vector<V>(count, 2);
      for (V& v : x) v = static_cast<V>(on.at(double(v)));
      if (count > 4) x[0] = V(-2), x[1] = V(3), x[2] = V(-1.9999), x[3] = V(0.5);
      host_array<V> here(count);
      evaluate(as_cview(a), on, as_cview(x), as_view(here));
      const gpu_array<V> there_a(a);
      kit::guarded<V, kit::gpu_side> there_x(x, 1);
      const auto run = [&] {
        auto y = kit::guarded<V, kit::gpu_side>::unwritten(count, 3);
        evaluate(this->gpu, as_cview(there_a), on, cview<V>(there_x.get()), y.get());
        return y.take();
      };
      const auto there = run();
      const double unit = std::numeric_limits<V>::epsilon();
      EXPECT_LE(largest_difference(here, there), 50 * unit * double(length + 1) * std::sqrt(double(length + 1)))
          << length << " coefficients, " << count << " points";
      EXPECT_TRUE(kit::same_bits(as_cview(there), as_cview(run())));
    }
}

TYPED_TEST(gpu_chebyshev_series, functions_of_matrices_are_those_of_the_cpu) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(40, 30, 5));
  const index_t n = a.shape.rows, columns = 2;
  const interval on = gershgorin(a);
  const auto x = kit::random_vector<V>(columns * n, 3);
  const double unit = std::numeric_limits<V>::epsilon();
  for (const format_entry* f : formats()) {
    if (!f->gpu.template make<V>()) continue;
    for (const bool centred : {false, true}) {
      const auto here = find_format("csr").cpu.make<V>()(centred ? centre(a, on) : a, {}, "auto");
      const auto there = f->gpu.template make<V>()(centred ? centre(a, on) : a, {}, "auto");
      const symmetric_operator<V> on_host{*here, {}, centred}, on_device{*there, this->gpu, centred};
      for (const index_t length : {0, 1, 2, 3, 4, 40, 41}) {
        const series p{kit::random_vector<double>(length, 4), on};
        host_array<V> wanted(columns * n);
        apply(p, on_host, as_cview(x), as_view(wanted), columns);
        kit::guarded<V, kit::gpu_side> device_x(x);
        auto y = kit::guarded<V, kit::gpu_side>::unwritten(columns * n);
        apply(p, on_device, cview<V>(device_x.get()), y.get(), columns);
        EXPECT_LE(largest_difference(wanted, y.take()), 100 * unit * double(length + 1)) << f->name << " " << length;
      }
      const auto moments_here = density(on_host, on, {50, 3}).moments,
                 moments_there = density(on_device, on, {50, 3}).moments;
      EXPECT_LE(largest_difference(moments_here, moments_there), 1000 * unit) << f->name;
      EXPECT_TRUE(kit::same_bits(as_cview(moments_there), as_cview(density(on_device, on, {50, 3}).moments)));
      if (centred) continue;
      const interval one = lanczos_bounds(on_host, on), other = lanczos_bounds(on_device, on);
      EXPECT_NEAR(one.low, other.low, 0.05);
      EXPECT_NEAR(one.high, other.high, 0.05);
    }
  }
}

} // namespace
} // namespace furrow::chebyshev
