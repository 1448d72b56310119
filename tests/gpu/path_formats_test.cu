// SPDX-License-Identifier: BSD-3-Clause
// Formats are made of rows on the GPU with the arrays that the host makes.
#include "path.hpp"

#include "core/measure.hpp"
#include "formats/bcsr/convert.hpp"
#include "formats/bcsr/gpu_convert.hpp"
#include "formats/csr/gpu_cut.hpp"
#include "formats/dia/convert.hpp"
#include "formats/dia/gpu_convert.hpp"
#include "formats/ell/convert.hpp"
#include "formats/ell/gpu_convert.hpp"
#include "formats/packed/convert.hpp"
#include "formats/packed/gpu_convert.hpp"
#include "formats/sell/convert.hpp"
#include "formats/sell/gpu_convert.hpp"
#include "formats/stencil/convert.hpp"
#include "formats/stencil/gpu_convert.hpp"
#include "matrix/source.hpp"

#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/storage.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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
        const auto wanted = to_bcsr<std::int32_t, k>(a);
        // Their number is counted, or known.
        for (const index_t blocks : {index_t(-1), std::max(index_t(-1), s.blocks[std::size_t(k)])}) {
          const auto got = download(to_bcsr<std::int32_t, k>(rows, blocks));
          expect_same(got.block_ptr, wanted.block_ptr, "block_ptr");
          expect_same(got.block, wanted.block, "block");
          expect_same(got.val, wanted.val, "val");
        }
      });
    for (const slicing how : {slicing{32, 1}, slicing{32, 256}, slicing{8, 64}, slicing{4, 16384}})
      for (const index_t places : {index_t(-1), counted_places(s, how)})
        expect_same_sell<V>(to_sell(rows, s.row_max, how, places), to_sell(coo<V>(a), how));
    for (const index_t window : {1, 32, 1024, 4096}) {
      const auto wanted = to_packed(coo<V>(a), window);
      const std::vector<V> dictionary(wanted.dictionary.begin(), wanted.dictionary.end());
      const slicing how{delta_rows, window};
      const auto got = download(to_packed(rows, s.row_max, how, dictionary, counted_places(s, how)));
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

template <class N, class V> void expect_same_stencils(const coo<V>& a, const rows_on_gpu<V>& rows) {
  const stencil_plan plan = plan_stencils(a);
  const auto there = plan_stencils(rows);
  ASSERT_TRUE(there.has_value());
  ASSERT_EQ(there->table.size(), plan.table.size());
  const auto got = download(to_stencil<N>(rows, *there));
  const auto wanted = to_stencil<N>(a, plan);
  EXPECT_EQ(got.shape, wanted.shape);
  expect_same(got.number, wanted.number, "number");
  expect_same(got.start, wanted.start, "start");
  expect_same(got.offset, wanted.offset, "offset");
  expect_same(got.val, wanted.val, "val");
  expect_same(got.rest_row, wanted.rest_row, "rest_row");
  EXPECT_EQ(got.rest.shape, wanted.rest.shape);
  expect_same(got.rest.row_ptr, wanted.rest.row_ptr, "rest.row_ptr");
  expect_same(got.rest.col, wanted.rest.col, "rest.col");
  expect_same(got.rest.val, wanted.rest.val, "rest.val");
}

/// A diagonal whose values are v(i).
template <class F> coo<double> diagonal_of(index_t rows, F v) {
  coo<double> a{{rows, rows}, host_array<std::int32_t>(rows), host_array<std::int32_t>(rows), host_array<double>(rows)};
  for (index_t i = 0; i < rows; ++i) {
    a.row[i] = a.col[i] = static_cast<std::int32_t>(i);
    a.val[i] = v(i);
  }
  return a;
}

TYPED_TEST(gpu_path, stencils_are_those_of_the_host) {
  using V = TypeParam;
  auto all = matrices();
  // As many as come home at once and more, as there is room for and more; of several rows, and of one.
  for (const index_t different : {200, 390, 600, 9000})
    all.push_back({"repeated", diagonal_of(20'000, [&](index_t i) { return double(1 + i % different); })});
  for (const index_t alone : {100, 250, 300, 5000})
    all.push_back({"alone", diagonal_of(20'000, [&](index_t i) { return i < 2 * alone && i % 2 ? double(i) : 0.5; })});
  for (const auto& m : all) {
    SCOPED_TRACE(m.name + " " + std::to_string(m.a.nnz()));
    const auto a = kit::as_precision<V>(m.a);
    const auto rows = send_rows(a);
    if (plan_stencils(a).fits_bytes()) expect_same_stencils<std::uint8_t>(a, rows);
    else expect_same_stencils<std::uint16_t>(a, rows);
  }
}

bool operator==(const tile& a, const tile& b) {
  return a.begin == b.begin && a.row == b.row && a.rows == b.rows && a.count == b.count;
}
bool operator==(const piece& a, const piece& b) {
  return a.begin == b.begin && a.row == b.row && a.rows == b.rows && a.count == b.count && a.parts == b.parts &&
         a.slot == b.slot && a.first == b.first;
}
template <class T> void expect_same_cut(const gpu_array<T>& there, const std::vector<T>& wanted, const char* what) {
  const host_array<T> got(there);
  ASSERT_EQ(got.size(), std::ssize(wanted)) << what;
  for (index_t k = 0; k < got.size(); ++k)
    ASSERT_TRUE(got[k] == wanted[static_cast<std::size_t>(k)]) << what << " " << k;
}

/// Offsets of rows whose lengths are l(i).
template <class I, class L> host_array<I> offsets(index_t rows, L l) {
  host_array<I> row_ptr(rows + 1);
  row_ptr[0] = 0;
  for (index_t i = 0; i < rows; ++i) row_ptr[i + 1] = row_ptr[i] + static_cast<I>(l(i));
  return row_ptr;
}

template <class I> void expect_cut_as_on_the_host(const host_array<I>& row_ptr) {
  const gpu_array<I> there(row_ptr);
  const index_t rows = row_ptr.size() - 1, nnz = row_ptr[rows];
  for (const auto& [entries, most] : {std::pair<index_t, index_t>{512, 256}, {1024, 7}, {10, 3}}) {
    csr_format::cuts_on_gpu<I> cuts(as_cview(there), nnz);
    const int number = cuts.tiles(entries, most);
    cuts.finish();
    expect_same_cut(cuts.at(number).tiles, cut_tiles(row_ptr, entries, most), "tiles");
  }
  const std::array sizes{piece_sizes{1024, 1024, 2048}, piece_sizes{1024, 1024, 4096}, piece_sizes{128, 128, 128},
                         piece_sizes{16, 5, 32}};
  csr_format::cuts_on_gpu<I> cuts(as_cview(there), nnz); // waited for together
  for (const piece_sizes& s : sizes) cuts.pieces(s);
  cuts.finish();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto& got = cuts.at(static_cast<int>(k));
    const auto wanted = cut_pieces(row_ptr, sizes[k]);
    EXPECT_EQ(got.slots, wanted.slots);
    expect_same_cut(got.pieces, wanted.all, "pieces");
  }
  expect_same(host_array<std::uint8_t>(csr_format::ends_of_rows_on_gpu(as_cview(there), nnz)), ends_of_rows(row_ptr),
              "ends");
  for (const index_t parts : {1, 132, 5000})
    expect_same(host_array<std::int32_t>(csr_format::cut_chunks_on_gpu(as_cview(there), nnz, parts)),
                cut_chunks(row_ptr, parts), "chunks");
}

TYPED_TEST(gpu_path, work_by_rows_is_cut_as_on_the_host) {
  using I = std::conditional_t<sizeof(TypeParam) == 8, index_t, std::int32_t>;
  for (const index_t rows : {0, 1, 7, 3071, 3072, 3073, 3072 + 200, 20'000}) {
    SCOPED_TRACE(rows);
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t) { return 7; }));
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t) { return 0; }));
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t i) { return i * i % 40; }));
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t i) { return i % 50 == 9 ? 3000 + i : i % 3; }));
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t i) { return 1000 + i % 60; }));
  }
  // Chunks of rows in groups.
  for (const index_t rows : {65 * 3072, 96 * 3072 + 1, 215'045}) {
    SCOPED_TRACE(rows);
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t) { return 7; }));
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t) { return 0; }));
    expect_cut_as_on_the_host(offsets<I>(rows, [](index_t i) { return i % 5000 == 9 ? 3000 + i % 99 : i * i % 13; }));
  }
}

TYPED_TEST(gpu_path, a_matrix_outlives_arrays_that_had_no_owner) {
  using V = TypeParam;
  for (const char* format : {"csr", "dia", "packed", "stencil", "bcsr", "ell"}) {
    SCOPED_TRACE(format);
    const bool blocks = format == std::string_view("bcsr");
    const auto a = kit::as_precision<V>(blocks ? generate("elasticity3d:6").a : kit::laplacian(40, 30));
    auto rows = send<V, std::int32_t>(a, this->gpu);
    const auto owner = std::exchange(rows.owner, nullptr);
    const gpu_array<V> x(kit::random_vector<V>(a.shape.cols, 5));
    matrix_options o;
    o.where = this->gpu;
    o.format = format;
    const matrix<V> made(rows, o);
    gpu_array<V> y(a.shape.rows), again(a.shape.rows);
    made.apply(V(1), as_cview(x), V(0), as_view(y));
    const auto& there = *std::static_pointer_cast<const rows_there<V, std::int32_t>>(owner);
    gpu_array<V> kept = there.val; // puts them back
    const host_array<V> nothing(kept.size(), std::numeric_limits<V>::quiet_NaN());
    auto* const val = const_cast<V*>(there.val.data());
    copy_bytes(gpu_memory{}, val, host_memory{}, nothing.data(), nothing.byte_count());
    made.apply(V(1), as_cview(x), V(0), as_view(again));
    gpu_memory::copy(val, kept.data(), kept.byte_count());
    expect_same(host_array<V>(again), host_array<V>(y), "y");
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
