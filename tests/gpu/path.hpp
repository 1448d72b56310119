// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "on_gpu.hpp"

#include "core/row_offsets.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"

#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>

#include <memory>
#include <vector>

/// The path from a matrix to a format on the GPU, beside the host's: matrices that go there, and what arrives.
namespace furrow {

template <class V> struct gpu_path : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_path, precisions);

template <class T> void expect_same(const host_array<T>& got, const host_array<T>& wanted, const char* what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  EXPECT_TRUE(kit::same_bits(as_cview(got), as_cview(wanted))) << what;
}
template <class V> void expect_same(const coo<V>& got, const coo<V>& wanted) {
  EXPECT_EQ(got.shape, wanted.shape);
  expect_same(got.row, wanted.row, "row");
  expect_same(got.col, wanted.col, "col");
  expect_same(got.val, wanted.val, "val");
}

/// The kit's and others that take other ways: blocks, long rows, samples, zeros, what is not finite.
inline std::vector<kit::named_matrix> matrices() {
  auto all = kit::whole_battery();
  for (const char* spec : {"poisson3d:24", "poisson2d:300", "elasticity3d:8", "powerlaw:30000:8:2.3", "stencil3d27:14",
                           "convection2d:60:1", "banded:20000:9:300", "disc2d:90", "ball3d:20", "varying3d:20:1"})
    all.push_back({spec, generate(spec).a});
  auto zeros = kit::laplacian(90, 80);
  for (index_t k = 0; k < zeros.nnz(); k += 7) zeros.val[k] = k % 2 ? 0.0 : -0.0;
  all.push_back({"stored zeros", zeros});
  auto nearly = kit::laplacian(60, 50);
  for (index_t k = 0; k < nearly.nnz(); ++k) nearly.val[k] *= 1 + double(k % 5) * 1e-15;
  all.push_back({"symmetric but for rounding", nearly});
  auto negative = kit::laplacian(40, 40);
  for (double& v : negative.val) v = -v;
  all.push_back({"negative definite", negative});
  return all;
}

/// Rows in the memory of the GPU, with an owner.
template <class V, class I> struct rows_there {
  gpu_array<I> row_ptr, col;
  gpu_array<V> val;
};
template <class V, class I> csr_arrays<V, I> send(const coo<V>& a, device gpu) {
  host_array<I> col(a.nnz());
  for (index_t k = 0; k < a.nnz(); ++k) col[k] = a.col[k];
  auto own = std::make_shared<rows_there<V, I>>(
      rows_there<V, I>{gpu_array<I>(offsets_of_rows<I>(a.row, a.shape.rows)), gpu_array<I>(col), gpu_array<V>(a.val)});
  return {a.shape, as_cview(own->row_ptr), as_cview(own->col), as_cview(own->val), gpu, own};
}

} // namespace furrow
