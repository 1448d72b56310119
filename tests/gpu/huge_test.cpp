// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/formats.hpp>

namespace furrow {
namespace {

/// More than 2^31 entries. Whole numbers so small that every order of summation is exact in single precision.
struct huge_matrix {
  static constexpr index_t rows = index_t(1) << 24, cols = index_t(1) << 20, per_row = 132, step = 7919;
  static constexpr index_t nnz = rows * per_row;
  static_assert(nnz > (index_t(1) << 31) && (per_row - 1) * step < cols);

  static index_t col(index_t row, index_t k) { return row * 31 % (cols - (per_row - 1) * step) + k * step; }
  static float val(index_t row, index_t k) { return float((7 * row + 13 * k) % 11 - 5); }
  static float x(index_t col) { return float(5 * col % 7 - 3); }
  static float product(index_t row) {
    float sum = 0;
    for (index_t k = 0; k < per_row; ++k) sum += val(row, k) * x(col(row, k));
    return sum;
  }
  static coo<float> triplets() {
    coo<float> a{{rows, cols}, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<float>(nnz)};
    cpu::for_each_range(rows, 1 << 10, [&](index_t first, index_t last) {
      for (index_t r = first; r < last; ++r)
        for (index_t k = 0; k < per_row; ++k) {
          a.row[r * per_row + k] = static_cast<std::int32_t>(r);
          a.col[r * per_row + k] = static_cast<std::int32_t>(col(r, k));
          a.val[r * per_row + k] = val(r, k);
        }
    });
    return a;
  }
};

struct gpu_huge : on_gpu {
  static constexpr double needed_on_host = 90e9, needed_on_gpu = 45e9;
  void SetUp() override {
    on_gpu::SetUp();
    if (IsSkipped()) return;
    if (double(available_host_memory()) < needed_on_host || double(available_gpu_memory(0)) < needed_on_gpu)
      GTEST_SKIP() << "needs 90 GB of memory and 45 GB on the GPU";
  }

  static void check_product(const format_entry& f, std::string_view kernel) {
    SCOPED_TRACE(std::string(f.name) + " by " + std::string(kernel));
    const auto op = f.gpu.f32(huge_matrix::triplets(), {}, kernel);
    host_array<float> x(huge_matrix::cols);
    for (index_t j = 0; j < x.size(); ++j) x[j] = huge_matrix::x(j);
    const gpu_array<float> device_x(x);
    gpu_array<float> y(huge_matrix::rows);
    op->apply(1, as_cview(device_x), 0, as_view(y));
    const host_array<float> got(y);
    // Both ends, both sides of entry 2^31, and rows from all over.
    const index_t middle = (index_t(1) << 31) / huge_matrix::per_row;
    for (index_t r = 0; r < huge_matrix::rows; ++r) {
      const bool near = r < 1000 || r >= huge_matrix::rows - 1000 || (r > middle - 1000 && r < middle + 1000);
      if (!near && r % 997 != 0) continue;
      ASSERT_EQ(got[r], huge_matrix::product(r)) << "row " << r;
    }
  }
};

TEST_F(gpu_huge, more_than_two_billion_entries_in_every_format) {
  const stats s = measure(huge_matrix::triplets());
  for (const format_entry* f : formats()) {
    const layout l = f->lay_out(s, precision::f32, {});
    if (!l.refusal.empty() || l.bytes > needed_on_gpu) continue;
    check_product(*f, "auto");
  }
}

TEST_F(gpu_huge, more_than_two_billion_entries_by_every_kernel_of_csr) {
  for (const kernel_entry& k : find_format("csr").gpu.kernels) check_product(find_format("csr"), k.name);
}

} // namespace
} // namespace furrow
