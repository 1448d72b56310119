// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"

#include "backends/cpu/space.hpp"
#include "backends/entry.hpp"
#include "backends/stored_values.hpp"
#include "core/parameters.hpp"

#include <furrow/formats.hpp>
#include <furrow/gemv.hpp>
#include <furrow/storage.hpp>

#include <fmt/format.h>

#include <array>

namespace furrow {
namespace dense_format {
namespace {

template <class V> class dense_on_cpu final : public any_operator<V>, public stored_values<V> {
public:
  explicit dense_on_cpu(dense_matrix<V, host_array> a) : matrix_(std::move(a)) {}

  shape2 shape() const override { return matrix_.shape; }
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    gemv(alpha, dense_view<V>{matrix_.val.data(), matrix_.shape, matrix_.shape.cols}, x, beta, y);
  }
  /// x . y is a pass of its own: over two vectors, where the matrix is one of n.
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override {
    do_apply(V(1), x, V(0), y);
    cpu::space<V>{}.dot(x, y, xy);
  }
  double stored_bytes() const override { return byte_count(matrix_); }
  double bytes_per_apply() const override {
    return stored_bytes() + double(sizeof(V)) * double(matrix_.shape.rows + matrix_.shape.cols);
  }
  std::string kernel() const override { return "along"; }
  std::optional<coo<V>> to_triplets() const override { return to_coo(matrix_); }
  std::vector<view<V>> values() override { return value_arrays(matrix_); }
  std::unique_ptr<any_operator<V>> copy() const override { return std::make_unique<dense_on_cpu>(*this); }

private:
  dense_matrix<V, host_array> matrix_;
};

template <class V> std::unique_ptr<any_operator<V>> make_cpu(coo<V> a, std::string_view, std::string_view) {
  return std::make_unique<dense_on_cpu<V>>(to_dense(a));
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  no_parameters("dense", parameters);
  constexpr double small = 1 << 20, limit = 64; // of places; of places an entry
  const double places = double(s.shape.rows) * double(s.shape.cols);
  layout l{bytes_of(p) * places, places};
  if (places > small && places > limit * double(s.nnz))
    l.refusal = fmt::format("dense would store {:.3g} elements for {} entries, more than {} for each: choose a sparse "
                            "format, such as csr",
                            places, s.nnz, limit);
  return l;
}

constexpr std::array cpu_kernels{kernel_entry{"along", "sums along the rows, four rows at a time", &costs::cpu_along}};
constexpr std::array gpu_kernels{
    kernel_entry{"along", "16-byte loads, threads that share a few rows; short rows through shared memory",
                 &costs::gpu_along},
    kernel_entry{"naive", "a thread a row, as in the tutorial on dense products", &costs::gpu_naive, {.block = true}},
    kernel_entry{"tiled", "the same with x through shared memory", &costs::gpu_tiled, {.block = true}},
};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);

extern const format_entry entry{
    "dense",
    "all elements, zeros too: for matrices that are full, or nearly",
    lay_out,
    {cpu_kernels, make_cpu<double>, make_cpu<float>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>)},
    {},
    {},
    true,
};

} // namespace dense_format
} // namespace furrow
