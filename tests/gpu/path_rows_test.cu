// SPDX-License-Identifier: BSD-3-Clause
// Rows that are sent to the GPU come back as they were, and are refused as on the host.
#include "path.hpp"

#include "matrix/rows_on_gpu.hpp"

#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/solver.hpp>

#include <algorithm>
#include <vector>

namespace furrow {
namespace {

struct gpu_path_faults : on_gpu {};
struct gpu_path_copies : on_gpu {};

template <class V> csr_arrays<V, std::int32_t> rows_of(const coo<V>& a, host_array<std::int32_t>& row_ptr) {
  row_ptr = offsets_of_rows<std::int32_t>(a.row, a.shape.rows);
  return {a.shape, as_cview(row_ptr), as_cview(a.col), as_cview(a.val)};
}

TEST_F(gpu_path_copies, large_ones_arrive_whole) {
  for (const index_t n : {index_t(1) << 20, (index_t(9) << 20) + 17, (index_t(33) << 17) + 1}) {
    const auto values = kit::random_vector<double>(n, 3);
    const gpu_array<double> there(values);
    for (int turn = 0; turn < 2; ++turn)
      EXPECT_TRUE(kit::same_bits(as_cview(host_array<double>(there)), as_cview(values))) << n;
  }
}

/// Nobody waits for small ones: those that are sent while much is enqueued arrive as they were, whatever becomes of
/// their sources, and however many there are.
TEST_F(gpu_path_copies, small_ones_arrive_as_they_were_when_they_were_sent) {
  const gpu_array<double> much(index_t(1) << 24, 1.0);
  gpu_array<double> copies(much.size());
  for (const index_t n : {1, 100, 2048, 2049}) {
    host_array<double> source(n);
    std::vector<gpu_array<double>> there;
    for (int k = 0; k < 50; ++k) {
      gpu_memory::copy(copies.data(), much.data(), much.byte_count());
      std::fill(source.begin(), source.end(), double(k));
      there.emplace_back(source);
    }
    std::fill(source.begin(), source.end(), -1.0);
    for (int k = 0; k < 50; ++k)
      EXPECT_TRUE(kit::same_bits(as_cview(host_array<double>(there[static_cast<std::size_t>(k)])),
                                 as_cview(host_array<double>(n, double(k)))))
          << n << " " << k;
  }
}

TYPED_TEST(gpu_path, rows_come_back_as_they_were_sent) {
  using V = TypeParam;
  for (const auto& m : matrices()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    expect_same(bring_home(send_rows(a)), a);
    host_array<std::int32_t> row_ptr;
    const auto home = send_rows(rows_of(a, row_ptr));
    ASSERT_TRUE(home);
    expect_same(bring_home(*home), a);
    const auto narrow = send_rows(send<V, std::int32_t>(a, this->gpu)),
               wide = send_rows(send<V, std::int64_t>(a, this->gpu));
    ASSERT_TRUE(narrow && wide);
    expect_same(bring_home(*narrow), a);
    expect_same(bring_home(*wide), a);
    auto minus = a;
    for (V& v : minus.val) v = -v;
    expect_same(bring_home(negated(*narrow)), minus);
  }
}

/// Few values travel as numbers, others in single precision where that is enough; one that does not fit, wherever it
/// is, sends all of them whole.
TYPED_TEST(gpu_path, values_that_travel_in_fewer_bytes_come_back_as_they_were) {
  using V = TypeParam;
  const auto expect_back = [&](const coo<V>& a, const char* what) {
    SCOPED_TRACE(what);
    expect_same(bring_home(send_rows(a)), a);
    host_array<std::int32_t> row_ptr;
    const auto rows = send_rows(rows_of(a, row_ptr));
    ASSERT_TRUE(rows);
    expect_same(bring_home(*rows), a);
  };
  auto a = kit::as_precision<V>(kit::laplacian(400, 300));
  const index_t nnz = a.nnz();
  expect_back(a, "few");
  a.val[nnz / 2] = V(-0.0); // between two runs that are looked at
  expect_back(a, "a stranger to few");
  for (index_t k = 0; k < nnz; ++k) a.val[k] = V(k % 1000) / 8;
  expect_back(a, "single precision");
  a.val[nnz / 2] = V(0.1);
  expect_back(a, "a stranger to single precision");
  a.val = host_array<V>(kit::random_vector<V>(nnz, 9));
  expect_back(a, "whole");
}

TEST_F(gpu_path_faults, triplets_are_refused_in_the_words_of_the_host) {
  const auto good = kit::laplacian(50, 40);
  const index_t middle = good.nnz() / 2;
  const auto broken = [&](auto change) {
    auto a = good;
    change(a);
    const std::string wanted = kit::said_by([&] { check_triplets(a); });
    EXPECT_NE(wanted, "");
    EXPECT_EQ(kit::said_by([&] { (void)send_rows(a); }), wanted);
    solve_options there;
    there.where = gpu;
    EXPECT_EQ(kit::said_by([&] { (void)solver<double>(a, there); }), wanted);
  };
  broken([&](auto& a) { a.col[middle] = -1; });
  broken([&](auto& a) { a.col[middle] = 2000; });
  broken([&](auto& a) { a.row[middle] = 0; });
  broken([&](auto& a) { a.row[0] = -5; });
  broken([&](auto& a) { a.col[middle] = a.col[middle - 1], a.row[middle] = a.row[middle - 1]; });
  broken([&](auto& a) { a.row[a.nnz() - 1] = 2000, a.col[3] = 5000; });
  broken([&](auto& a) { a.col.resize(a.nnz() - 1); });
  broken([&](auto& a) { a.shape.rows = index_t(1) << 40; });
}

TEST_F(gpu_path_faults, rows_are_refused_in_the_words_of_the_host) {
  const auto good = kit::laplacian(50, 40);
  const index_t middle = good.nnz() / 2;
  const auto broken = [&](auto change) {
    host_array<std::int32_t> row_ptr = offsets_of_rows<std::int32_t>(good.row, good.shape.rows), col = good.col;
    change(row_ptr, col);
    const csr_arrays<double, std::int32_t> here{good.shape, as_cview(row_ptr), as_cview(col), as_cview(good.val)};
    const gpu_array<std::int32_t> row_ptr_there(row_ptr), col_there(col);
    const gpu_array<double> val_there(good.val);
    const csr_arrays<double, std::int32_t> there{good.shape, as_cview(row_ptr_there), as_cview(col_there),
                                                 as_cview(val_there), gpu};
    const std::string wanted = kit::said_by([&] { (void)to_coo(here); });
    EXPECT_NE(wanted, "");
    EXPECT_EQ(kit::said_by([&] { (void)send_rows(here); }), wanted);
    EXPECT_EQ(kit::said_by([&] { (void)send_rows(there); }), wanted);
    EXPECT_EQ(kit::said_by([&] { (void)matrix<double>(there, {.where = gpu}); }), wanted);
  };
  broken([&](auto&, auto& col) { col[middle] = -1; });
  broken([&](auto&, auto& col) { col[middle] = 2000, col[middle + 5] = 3000; });
  broken([&](auto& row_ptr, auto&) { row_ptr[0] = 1; });
  broken([&](auto& row_ptr, auto&) { row_ptr[1000] = 1; });
  broken([&](auto& row_ptr, auto&) { row_ptr[2000] += 1; });
  broken([&](auto& row_ptr, auto&) { row_ptr[2000] = -1; });
}

TEST_F(gpu_path_faults, arrays_in_the_wrong_memory_are_refused) {
  const auto a = kit::laplacian(20, 20);
  host_array<std::int32_t> row_ptr;
  auto here = rows_of(a, row_ptr);
  here.where = gpu;
  EXPECT_NE(kit::said_by([&] { (void)matrix<double>(here, {.where = gpu}); }).find("host memory"), std::string::npos);
  const auto there = send<double, std::int32_t>(a, gpu);
  EXPECT_NE(kit::said_by([&] { (void)matrix<double>(there); }).find("gpu:0"), std::string::npos);
  EXPECT_NE(kit::said_by([&] { (void)to_coo(there); }).find("gpu:0"), std::string::npos);
}

TYPED_TEST(gpu_path, rows_in_any_order_add_up_as_on_the_host) {
  using V = TypeParam;
  const host_array<std::int32_t> row_ptr{0, 3, 3, 5}, col{2, 0, 2, 1, 0};
  const host_array<V> val{1, 2, 3, 4, 5};
  const csr_arrays<V, std::int32_t> here{{3, 3}, as_cview(row_ptr), as_cview(col), as_cview(val)};
  EXPECT_FALSE(send_rows(here));
  const gpu_array<std::int32_t> row_ptr_there(row_ptr), col_there(col);
  const gpu_array<V> val_there(val);
  const csr_arrays<V, std::int32_t> there{
      {3, 3}, as_cview(row_ptr_there), as_cview(col_there), as_cview(val_there), this->gpu};
  expect_same(matrix<V>(there, {.where = this->gpu}).to_triplets(), to_coo(here));
}

} // namespace
} // namespace furrow
