// SPDX-License-Identifier: BSD-3-Clause
#include "gemv_request.hpp"

#include "backends/cpu/parallel.hpp"
#include "generate/randomness.hpp"
#include "tune/ceiling.hpp"
#include "tune/timing.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace furrow::cli {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Median seconds of a call, of as many as were asked for or fit half a second.
double median_seconds(const std::function<void()>& call, [[maybe_unused]] device where, int repeat) {
  const auto some = [&](int count) {
    std::vector<double> seconds;
#if FURROW_HAS_GPU
    if (where.is_gpu()) return gpu::time_calls(call, count);
#endif
    for (int k = 0; k < count; ++k) {
      const double began = now();
      call();
      seconds.push_back(now() - began);
    }
    return seconds;
  };
  const double once = std::ranges::min(some(2));
  if (repeat <= 0) repeat = static_cast<int>(std::clamp(0.5 / std::max(once, 1e-9), 7.0, 1000.0));
  auto seconds = some(repeat);
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

/// One type and one device. A has elements in [-1, 1), x in [0.5, 1.5).
template <class T, template <class> class Array> gemv_outcome measure(const gemv_request& q) {
  using V = vector_value<T>;
  const bool transposed = q.op == "t", by_rows = q.layout == "row";
  const index_t m = q.shape.rows, n = q.shape.cols, terms = transposed ? m : n, outputs = transposed ? n : m;
  const randomness random(1);
  host_array<T> a(m * n);
  cpu::for_each_range(a.size(), 1 << 14, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) a[k] = T(static_cast<V>(2 * unit(random.at(k)) - 1));
  });
  host_array<V> x(terms * q.vectors);
  for (index_t k = 0; k < x.size(); ++k) x[k] = static_cast<V>(0.5 + unit(random.at(k, 1)));
  const host_array<V> unwritten(outputs * q.vectors, std::numeric_limits<V>::quiet_NaN());
  const Array<T> there_a(a);
  const Array<V> there_x(x);
  const dense_view<T> matrix{there_a.data(), q.shape, by_rows ? n : m,
                             by_rows ? storage_order::row_major : storage_order::col_major};

  gemv_outcome o;
  o.bytes = double(sizeof(T)) * double(a.size()) + double(sizeof(V)) * double(x.size() + unwritten.size());
  std::vector<std::string> kernels{q.kernel};
  if (q.kernel == "all") {
    const bool across = by_rows == transposed;
    kernels.clear();
    for (const auto& k : gemv_kernels(q.where))
      if ((k.name == "across") == across && (q.vectors == 1 || k.name == "along" || k.name == "across"))
        kernels.emplace_back(k.name);
  }
  for (const auto& kernel : kernels) {
    Array<V> there_y(unwritten);
    gemv_options options;
    options.transposed = transposed;
    options.where = q.where;
    options.kernel = kernel;
    const auto call = [&] {
      gemv<T>(1, matrix, {there_x.data(), terms, 1, q.vectors, terms}, 0,
              {there_y.data(), outputs, 1, q.vectors, outputs}, options);
    };
    gemv_result r;
    r.kernel = kernel == "auto" ? (by_rows == transposed ? "across" : "along") : kernel;
    r.seconds = median_seconds(call, q.where, q.repeat);
    r.gbps = 1e-9 * o.bytes / r.seconds;
    if (q.check) {
      const host_array<V> y(there_y);
      const double u = std::numeric_limits<V>::epsilon() / 2;
      std::vector<double> worst(static_cast<std::size_t>(cpu::thread_count()), 0.0);
      const index_t parts = cpu::thread_count(), total = outputs * q.vectors;
      cpu::for_each_task(parts, [&](index_t part) {
        for (index_t k = cpu::part_begin(total, parts, part); k < cpu::part_begin(total, parts, part + 1); ++k) {
          const index_t i = k % outputs;
          const V* const from = x.data() + k / outputs * terms;
          long double sum = 0, size = 0;
          for (index_t t = 0; t < terms; ++t) {
            const index_t row = transposed ? t : i, col = transposed ? i : t;
            const auto product = static_cast<long double>(V(a[by_rows ? row * n + col : row + col * m])) * from[t];
            sum += product;
            size += std::fabs(product);
          }
          const auto off = static_cast<double>(std::fabs(y[k] - sum));
          const double error = off == 0 ? 0 : off / (double(terms + 2) * u * static_cast<double>(size));
          double& mine = worst[static_cast<std::size_t>(part)];
          mine = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(mine, error);
        }
      });
      r.row_error = std::ranges::max(worst);
    }
    o.results.push_back(std::move(r));
  }
  return o;
}

template <class T> gemv_outcome measure_on_device(const gemv_request& q) {
  return q.where.is_gpu() ? measure<T, gpu_array>(q) : measure<T, host_array>(q);
}

} // namespace

gemv_outcome measure_gemv(const gemv_request& q) {
  gemv_outcome o = q.type == "f64"   ? measure_on_device<double>(q)
                   : q.type == "f32" ? measure_on_device<float>(q)
                   : q.type == "f16" ? measure_on_device<half>(q)
                                     : measure_on_device<bfloat16>(q);
  o.ceiling_gbps = 1e-9 * read_ceilings(q.where, q.ceiling).of(o.bytes); // in the place of the matrix
  return o;
}

} // namespace furrow::cli
