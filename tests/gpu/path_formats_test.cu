// SPDX-License-Identifier: BSD-3-Clause
// Formats are made of rows on the GPU with the arrays that the host makes.
#include "path.hpp"

#include "core/measure.hpp"
#include "formats/bcsr/convert.hpp"
#include "formats/bcsr/gpu_convert.hpp"
#include "formats/dia/convert.hpp"
#include "formats/dia/gpu_convert.hpp"
#include "formats/ell/convert.hpp"
#include "formats/ell/gpu_convert.hpp"
#include "formats/packed/convert.hpp"
#include "formats/packed/gpu_convert.hpp"
#include "formats/sell/convert.hpp"
#include "formats/sell/gpu_convert.hpp"
#include "matrix/source.hpp"

#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/storage.hpp>

namespace furrow {
namespace {

template <class V, class There> void expect_same_sell(const There& there, const sell<V, host_array>& wanted) {
  const auto got = download(there);
  EXPECT_EQ(got.shape, wanted.shape);
  EXPECT_EQ(got.height, wanted.height);
  expect_same(got.slice_ptr, wanted.slice_ptr, "slice_ptr");
  expect_same(got.row, wanted.row, "row");
  expect_same(got.col, wanted.col, "col");
  expect_same(got.val, wanted.val, "val");
}

TYPED_TEST(gpu_path, stores_the_arrays_of_the_host) {
  using V = TypeParam;
  for (const auto& m : matrices()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    const auto rows = send_rows(a);
    const stats s = measure(a);
    if (s.diagonals <= 400) {
      const auto got = download(to_dia(rows, s.diagonals));
      const auto wanted = to_dia(a);
      EXPECT_EQ(got.stride, wanted.stride);
      expect_same(got.offset, wanted.offset, "offset");
      expect_same(got.val, wanted.val, "val");
    }
    if (s.row_max * a.shape.rows <= 20 * a.nnz() + 1000) {
      const auto got = download(to_ell(rows, s.row_max));
      const auto wanted = to_ell(a);
      EXPECT_EQ(got.width, wanted.width);
      EXPECT_EQ(got.stride, wanted.stride);
      expect_same(got.col, wanted.col, "col");
      expect_same(got.val, wanted.val, "val");
    }
    for (const index_t edge : {2, 3, 8})
      with_edge(edge, [&](auto k) {
        const auto got = download(to_bcsr<std::int32_t, k>(rows));
        const auto wanted = to_bcsr<std::int32_t, k>(a);
        expect_same(got.block_ptr, wanted.block_ptr, "block_ptr");
        expect_same(got.block, wanted.block, "block");
        expect_same(got.val, wanted.val, "val");
      });
    for (const slicing how : {slicing{32, 1}, slicing{32, 256}, slicing{8, 64}, slicing{4, 16384}})
      expect_same_sell<V>(to_sell(rows, s.row_max, how), to_sell(coo<V>(a), how));
    for (const index_t window : {1, 32, 4096}) {
      const auto wanted = to_packed(coo<V>(a), window);
      const std::vector<V> dictionary(wanted.dictionary.begin(), wanted.dictionary.end());
      const auto got = download(to_packed(rows, s.row_max, slicing{delta_rows, window}, dictionary));
      ASSERT_EQ(got.slice.size(), wanted.slice.size());
      for (index_t k = 0; k < got.slice.size(); ++k) {
        ASSERT_EQ(got.slice[k].slot, wanted.slice[k].slot);
        ASSERT_EQ(got.slice[k].word, wanted.slice[k].word);
        ASSERT_EQ(got.slice[k].width, wanted.slice[k].width);
        ASSERT_EQ(got.slice[k].delta_bytes, wanted.slice[k].delta_bytes);
      }
      expect_same(got.row, wanted.row, "row");
      expect_same(got.base, wanted.base, "base");
      expect_same(got.word, wanted.word, "word");
      expect_same(got.dictionary, wanted.dictionary, "dictionary");
      expect_same(got.val, wanted.val, "val");
    }
  }
}

template <class V> host_array<V> product(const any_operator<V>& a) {
  const gpu_array<V> x(kit::random_vector<V>(a.shape().cols, 5));
  gpu_array<V> y(a.shape().rows);
  a.apply(V(1), as_cview(x), V(0), as_view(y));
  return host_array<V>(y);
}

TYPED_TEST(gpu_path, multiplies_as_what_the_host_converted) {
  using V = TypeParam;
  for (const auto& m : matrices()) {
    const auto a = kit::as_precision<V>(m.a);
    const stats s = measure(a);
    for (const format_entry* f : formats()) {
      if (!f->gpu.template from_rows<V>() || !f->lay_out(s, precision_of<V>, {}).refusal.empty()) continue;
      for (const kernel_entry& k : f->gpu.kernels) {
        SCOPED_TRACE(m.name + " " + std::string(f->name) + " " + std::string(k.name));
        const choice c{f, {}, std::string(k.name), {}};
        const auto wanted = make<V>(c, this->gpu, coo<V>(a));
        const auto got = matrix_source<V>(a, this->gpu).store(c, s);
        EXPECT_EQ(got->kernel(), wanted->kernel());
        EXPECT_EQ(got->stored_bytes(), wanted->stored_bytes());
        expect_same(product(*got), product(*wanted), "y");
      }
    }
  }
}

TYPED_TEST(gpu_path, csr_keeps_the_arrays_of_the_caller) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 30));
  auto rows = send<V, std::int32_t>(a, this->gpu);
  const std::weak_ptr<const void> owner = rows.owner;
  {
    const matrix<V> kept(rows, {.format = "csr", .where = this->gpu}),
        converted(rows, {.format = "sell", .where = this->gpu});
    rows.owner.reset();
    EXPECT_FALSE(owner.expired());
    expect_same(kept.to_triplets(), a);
    expect_same(converted.to_triplets(), a);
  }
  EXPECT_TRUE(owner.expired());
}

TYPED_TEST(gpu_path, takes_new_values_there) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 30));
  for (const char* format : {"csr", "dia", "sell", "packed"}) {
    matrix<V> m(send<V, std::int32_t>(a, this->gpu), {.format = format, .where = this->gpu});
    const matrix<V> before = m;
    auto other = a;
    for (index_t k = 0; k < other.nnz(); ++k) other.val[k] = V(k % 9 + 1);
    {
      const gpu_array<V> values(other.val);
      m.update_values(as_cview(values));
      EXPECT_NE(kit::said_by([&] { m.update_values(as_cview(other.val)); }), "");
    }
    expect_same(m.to_triplets(), other);
    expect_same(before.to_triplets(), a);
  }
}

} // namespace
} // namespace furrow
