// SPDX-License-Identifier: BSD-3-Clause
#include "bench_runs.hpp"
#include "product_command.hpp"

#include "chebyshev/bare_transforms.hpp"

#include <cmath>

namespace furrow::cli::cheb_command {

using namespace chebyshev;

double constant_product(convention series, index_t n, index_t k) {
  const double both = document_a * document_b;
  if (series == convention::primed || k >= n) return both * double(2 * n - 1 - k) / 2;
  return both * double(k == 0 ? n + 1 : 2 * n - k + 1) / 2;
}

namespace {

/// The two transforms of a product, and nothing else.
std::function<void()> bare(index_t points, [[maybe_unused]] device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return bare_transforms(points);
#endif
  return bare_transforms_on_cpu(points);
}

/// Two series of n constant coefficients.
template <class V, class Array>
product_run measure(index_t n, index_t keep, convention series, algorithm how, device where, double budget) {
  const Array a(host_array<V>(n, V(document_a))), b(host_array<V>(n, V(document_b)));
  Array c(host_array<V>(keep, V(NAN)));
  product_plan<V> plan(n, n, 1, {series, keep, how, accuracy::normwise, where});
  product_run r{n, keep, series, how};
  r.seconds = median_seconds([&] { plan.multiply({a.data()}, {b.data()}, {c.data()}); }, where, budget);
  const host_array<V> result(c);
  r.first = result[0];
  r.second = keep > 1 ? double(result[1]) : 0;
  const double rounding = double(V(document_a)) * double(V(document_b)) / (document_a * document_b);
  for (index_t k = 0; k < keep; ++k)
    r.error = std::fmax(r.error, std::isnan(result[k])
                                     ? HUGE_VAL
                                     : std::abs(double(result[k]) - rounding * constant_product(series, n, k)));
  if (how == algorithm::fft) r.bare = median_seconds(bare(plan.transform(), where), where, budget);
  return r;
}

template <class V> product_run measure(index_t n, index_t keep, convention series, algorithm how, device where) {
  return where.is_gpu() ? measure<V, gpu_array<V>>(n, keep, series, how, where, 0.1)
                        : measure<V, host_array<V>>(n, keep, series, how, where, 0.1);
}

template <class V, class Array> batch_run measure_batch(device where) {
  batch_run r;
  const index_t m = 2 * r.n - 1;
  const Array a(host_array<V>(r.n * r.count, V(document_a))), b(host_array<V>(r.n * r.count, V(document_b)));
  Array c(m * r.count);
  const product_options o{convention::plain, {}, algorithm::automatic, accuracy::normwise, where};
  product_plan<V> all(r.n, r.n, r.count, o), one(r.n, r.n, 1, o);
  r.how = all.how();
  r.together = median_seconds(
      [&] {
        all.multiply({a.data(), r.count, r.n}, {b.data(), r.count, r.n}, {c.data(), r.count, m});
      },
      where, 0.1);
  r.one_by_one = median_seconds(
      [&] {
        for (index_t s = 0; s < r.count; ++s)
          one.multiply({a.data() + s * r.n}, {b.data() + s * r.n}, {c.data() + s * m});
      },
      where, 0.1);
  return r;
}

} // namespace

product_run measure_product(precision p, index_t n, index_t keep, convention series, algorithm how, device where) {
  return p == precision::f32 ? measure<float>(n, keep, series, how, where)
                             : measure<double>(n, keep, series, how, where);
}

batch_run measure_batch(precision p, device where) {
  const bool single = p == precision::f32;
  if (where.is_gpu())
    return single ? measure_batch<float, gpu_array<float>>(where) : measure_batch<double, gpu_array<double>>(where);
  return single ? measure_batch<float, host_array<float>>(where) : measure_batch<double, host_array<double>>(where);
}

} // namespace furrow::cli::cheb_command
