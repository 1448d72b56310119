// SPDX-License-Identifier: BSD-3-Clause
#include "operands.hpp"

#include "tune/ceiling.hpp"
#include "tune/timing.hpp"

#include "core/clock.hpp"

#include <algorithm>
#include <limits>

namespace furrow::cli {
namespace {

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

/// Whether the kernel serves shapes of this kind at all: `all` leaves out those that do not.
bool serves(const auto& call) {
  try {
    call();
    return true;
  } catch (const error& e) {
    if (e.kind != fault::usage) throw;
    return false;
  }
}

/// The kernels that were asked for and serve this operation.
std::vector<std::string> kernels_of(const gemv_request& q, bool along) {
  if (q.kernel != "all") return {q.kernel};
  std::vector<std::string> kernels;
  for (const auto& k : gemv_kernels(q.where))
    if (k.across != along && (q.vectors == 1 || !k.one_vector)) kernels.emplace_back(k.name);
  return kernels;
}

/// One type and one device.
template <class T, template <class> class Array> gemv_outcome measure(const gemv_request& q) {
  using V = vector_value<T>;
  const gemv_operands<T> operands(q);
  const index_t terms = operands.terms, outputs = operands.outputs;
  const host_array<V> unwritten(outputs * q.vectors, std::numeric_limits<V>::quiet_NaN());
  const Array<T> there_a(operands.a);
  const Array<V> there_x(operands.x);
  const dense_view<T> matrix{there_a.data(), q.shape, operands.by_rows ? q.shape.cols : q.shape.rows,
                             operands.by_rows ? storage_order::row_major : storage_order::col_major};
  gemv_outcome o;
  o.bytes = operands.bytes();
  for (const auto& kernel : kernels_of(q, operands.along())) {
    Array<V> there_y(unwritten);
    gemv_options options;
    options.transposed = operands.transposed;
    options.where = q.where;
    options.kernel = kernel;
    const auto call = [&] {
      gemv<T>(1, matrix, {there_x.data(), terms, 1, q.vectors, terms}, 0,
              {there_y.data(), outputs, 1, q.vectors, outputs}, options);
    };
    if (q.kernel == "all" && !serves(call)) continue;
    gemv_result r;
    r.kernel = kernel != "auto" ? kernel : operands.along() ? "along" : "across";
    r.seconds = median_seconds(call, q.where, q.repeat);
    r.gbps = 1e-9 * o.bytes / r.seconds;
    if (q.check) r.row_error = operands.row_error(as_cview(host_array<V>(there_y)));
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
