// SPDX-License-Identifier: BSD-3-Clause
#include "canonical.hpp"
#include "gpu/ways.hpp"

#include "core/check.hpp"
#include "core/kernel_numbers.hpp"
#include "core/memory_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace furrow {
namespace {

constexpr std::array cpu_kernels{
    gemv_kernel{"along", "sums along the lines of memory, several lines at a time: row-major A x, column-major A' x"},
    gemv_kernel{"across", "adds the lines of memory up, several at a time: column-major A x, row-major A' x", true},
};

template <class... Along, class... Across> constexpr auto all_kernels(dense::ways<Along...>, dense::ways<Across...>) {
  return std::array{
      gemv_kernel{Along::name, Along::about, false, Along::one_vector}...,
      gemv_kernel{Across::name, Across::about, true, Across::one_vector}...,
      gemv_kernel{"naive", "a thread a row, as in the tutorial: row-major A x", false, true},
      gemv_kernel{"tiled", "the same with x through shared memory, as in the tutorial", false, true},
  };
}
constexpr auto gpu_kernels = all_kernels(dense::along_ways{}, dense::across_ways{});

/// The tutorial's kernels serve the tutorial's case.
template <class T> void check_kernel(const dense::call<T>& c, std::string_view name, device where) {
  if (name == "auto") return;
  const std::string_view all = name;
  name = kernel_name(name);
  std::vector<std::string_view> names{"auto"};
  for (const auto& k : gemv_kernels(where)) names.push_back(k.name);
  const auto kernel = std::ranges::find(gemv_kernels(where), name, &gemv_kernel::name);
  check(kernel != gemv_kernels(where).end(), fault::usage, "gemv: the {} has no kernel '{}': choose one of {}",
        where.is_gpu() ? "GPU" : "CPU", name, fmt::join(names, ", "));
  check(kernel->across == c.across, fault::usage,
        "gemv: kernel {} does not serve this order and operation: choose {} or auto", name,
        c.across ? "across" : "along");
  const bool tutorial = name == "naive" || name == "tiled";
  read_kernel_numbers(all, {.lanes = false, .block = tutorial}, lanes_of_a_warp);
  check(!tutorial || (c.count == 1 && c.batch <= 1 && !c.a_list && !c.x_list && !c.y_list && !c.f64_sums), fault::usage,
        "gemv: kernel {} is the tutorial's: one matrix, one vector, no sums in double", name);
}

/// What a product reads and writes lies where it runs: a GPU that reads host memory is of no use to the process behind
/// that. Elements of lists are taken at their word.
template <class T> void check_places(const dense::call<T>& c, device where) {
  const auto look = [&](std::string_view name, const void* at, bool used) {
    if (!used || !at) return;
    const memory_place is = place_of(at);
    check(where.is_gpu() ? is.gpu : is.host, fault::usage, "gemv: {} lies in {}, but the product runs on the {}", name,
          is.host ? "host memory" : "the memory of a GPU", where.is_gpu() ? "GPU" : "CPU");
  };
  const bool multiplies = c.alpha != vector_value<T>(0) && c.terms() > 0;
  look("A", c.a, multiplies && !c.a_list);
  look("x", c.x, multiplies && !c.x_list);
  look("y", c.y, !c.y_list);
}

/// y <- beta y, without reading y where beta is 0.
template <class T> void scale_on_cpu(const dense::call<T>& c) {
  using V = vector_value<T>;
  for (index_t b = 0; b < c.batch; ++b)
    for (int r = 0; r < c.count; ++r) {
      V* const y = c.y_of(b) + r * c.y_next;
      for (index_t i = 0; i < c.outputs(); ++i) dense::put<V, V>(V(0), V(0), c.beta, y[i * c.y_stride]);
    }
}

} // namespace

std::span<const gemv_kernel> gemv_kernels(device where) {
  if (where.is_gpu()) return gpu_kernels;
  return cpu_kernels;
}

template <class T>
void gemv(std::type_identity_t<vector_value<T>> alpha, const dense_view<T>& a,
          const std::type_identity_t<vectors<const vector_value<T>>>& x, std::type_identity_t<vector_value<T>> beta,
          const std::type_identity_t<vectors<vector_value<T>>>& y, const gemv_options& options,
          const std::type_identity_t<gemv_batch<T>>& batch) {
  const auto c = dense::canonical<T>(alpha, a, x, beta, y, options, batch);
  check_kernel(c, options.kernel, options.where);
  if (c.outputs() == 0 || c.batch == 0) return;
  check_places(c, options.where);
#if FURROW_HAS_GPU
  if (options.where.is_gpu()) {
    const bool served = dense::run_on_gpu(c, options.kernel);
    check(
        served, fault::usage,
        "gemv: kernel {} does not serve {} lines of {} elements with {} vectors at these addresses: choose {} or auto",
        options.kernel, c.lines, c.length, c.count, c.across ? "across" : "along");
    return;
  }
#else
  check(!options.where.is_gpu(), fault::device, "gemv: this build has no GPU part");
#endif
  if (alpha == vector_value<T>(0) || c.terms() == 0) return scale_on_cpu(c);
  dense::run_on_cpu(c);
}

#define FURROW_GEMV(T)                                                                                                 \
  template void gemv(std::type_identity_t<vector_value<T>>, const dense_view<T>&,                                      \
                     const std::type_identity_t<vectors<const vector_value<T>>>&,                                      \
                     std::type_identity_t<vector_value<T>>, const std::type_identity_t<vectors<vector_value<T>>>&,     \
                     const gemv_options&, const std::type_identity_t<gemv_batch<T>>&);
FURROW_GEMV(double)
FURROW_GEMV(float)
FURROW_GEMV(half)
FURROW_GEMV(bfloat16)
#undef FURROW_GEMV

} // namespace furrow
