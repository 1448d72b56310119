// SPDX-License-Identifier: BSD-3-Clause
// The path from a matrix to a format on the GPU, beside the host's: what is sent, what is found out, what is stored.
#include "on_gpu.hpp"

#include "core/distinct.hpp"
#include "core/measure.hpp"
#include "core/row_offsets.hpp"
#include "core/symmetry.hpp"
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
#include "preconditioners/entry.hpp"
#include "solve/features.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>
#include <furrow/storage.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

template <class V> struct gpu_path : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_path, precisions);
struct gpu_path_faults : on_gpu {};
struct gpu_path_copies : on_gpu {};

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
std::vector<kit::named_matrix> matrices() {
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

template <class V> csr_arrays<V, std::int32_t> rows_of(const coo<V>& a, host_array<std::int32_t>& row_ptr) {
  row_ptr = offsets_of_rows<std::int32_t>(a.row, a.shape.rows);
  return {a.shape, as_cview(row_ptr), as_cview(a.col), as_cview(a.val)};
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

TEST_F(gpu_path_copies, large_ones_arrive_whole) {
  for (const index_t n : {index_t(1) << 20, (index_t(9) << 20) + 17, (index_t(33) << 17) + 1}) {
    const auto values = kit::random_vector<double>(n, 3);
    const gpu_array<double> there(values);
    for (int turn = 0; turn < 2; ++turn)
      EXPECT_TRUE(kit::same_bits(as_cview(host_array<double>(there)), as_cview(values))) << n;
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

template <class F> std::string complaint(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing";
}

TEST_F(gpu_path_faults, triplets_are_refused_in_the_words_of_the_host) {
  const auto good = kit::laplacian(50, 40);
  const index_t middle = good.nnz() / 2;
  const auto broken = [&](auto change) {
    auto a = good;
    change(a);
    const std::string wanted = complaint([&] { check_triplets(a); });
    EXPECT_NE(wanted, "nothing");
    EXPECT_EQ(complaint([&] { (void)send_rows(a); }), wanted);
    solve_options there;
    there.where = gpu;
    EXPECT_EQ(complaint([&] { (void)solver<double>(a, there); }), wanted);
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
    const std::string wanted = complaint([&] { (void)to_coo(here); });
    EXPECT_NE(wanted, "nothing");
    EXPECT_EQ(complaint([&] { (void)send_rows(here); }), wanted);
    EXPECT_EQ(complaint([&] { (void)send_rows(there); }), wanted);
    EXPECT_EQ(complaint([&] { (void)matrix<double>(there, {.where = gpu}); }), wanted);
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
  EXPECT_NE(complaint([&] { (void)matrix<double>(here, {.where = gpu}); }).find("host memory"), std::string::npos);
  const auto there = send<double, std::int32_t>(a, gpu);
  EXPECT_NE(complaint([&] { (void)matrix<double>(there); }).find("gpu:0"), std::string::npos);
  EXPECT_NE(complaint([&] { (void)to_coo(there); }).find("gpu:0"), std::string::npos);
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

void expect_same(const stats& got, const stats& wanted) {
  EXPECT_EQ(got.shape, wanted.shape);
  EXPECT_EQ(got.nnz, wanted.nnz);
  EXPECT_EQ(got.row_min, wanted.row_min);
  EXPECT_EQ(got.row_max, wanted.row_max);
  EXPECT_EQ(got.row_mean, wanted.row_mean);
  EXPECT_EQ(got.row_deviation, wanted.row_deviation);
  EXPECT_EQ(got.empty_rows, wanted.empty_rows);
  EXPECT_EQ(got.rows_reaching, wanted.rows_reaching);
  EXPECT_EQ(got.lengths_fingerprint, wanted.lengths_fingerprint);
  EXPECT_EQ(got.slice_places, wanted.slice_places);
  EXPECT_EQ(got.row_histogram, wanted.row_histogram);
  EXPECT_EQ(got.lower_bandwidth, wanted.lower_bandwidth);
  EXPECT_EQ(got.upper_bandwidth, wanted.upper_bandwidth);
  EXPECT_EQ(got.diagonals, wanted.diagonals);
  EXPECT_EQ(got.zero_diagonal, wanted.zero_diagonal);
  EXPECT_EQ(got.explicit_zeros, wanted.explicit_zeros);
  EXPECT_EQ(got.norm_inf, wanted.norm_inf);
  EXPECT_EQ(got.largest, wanted.largest);
  EXPECT_EQ(got.finite, wanted.finite);
  EXPECT_EQ(got.distinct_values, wanted.distinct_values);
  EXPECT_EQ(got.near.by_row, wanted.near.by_row);
  EXPECT_EQ(got.near.by_slice, wanted.near.by_slice);
  EXPECT_EQ(got.near.by_window, wanted.near.by_window);
  EXPECT_EQ(got.blocks, wanted.blocks);
  ASSERT_EQ(got.estimates.size(), wanted.estimates.size());
  for (std::size_t k = 0; k < got.estimates.size(); ++k) {
    EXPECT_EQ(got.estimates[k].format, wanted.estimates[k].format);
    EXPECT_EQ(got.estimates[k].number, wanted.estimates[k].number);
  }
}

void expect_same(const features& got, const features& wanted) {
  EXPECT_EQ(got.rows, wanted.rows);
  EXPECT_EQ(got.more_columns, wanted.more_columns);
  EXPECT_EQ(got.nnz, wanted.nnz);
  EXPECT_EQ(got.longest_row, wanted.longest_row);
  EXPECT_EQ(got.symmetric, wanted.symmetric);
  EXPECT_EQ(got.zero_diagonal, wanted.zero_diagonal);
  EXPECT_EQ(got.negative_diagonal, wanted.negative_diagonal);
  EXPECT_EQ(got.small_diagonal, wanted.small_diagonal);
  EXPECT_EQ(got.dominant, wanted.dominant);
  EXPECT_EQ(got.scales, wanted.scales);
  EXPECT_EQ(got.diagonals, wanted.diagonals);
}

TYPED_TEST(gpu_path, statistics_and_features_are_those_of_the_host) {
  using V = TypeParam;
  for (const auto& m : matrices()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    const matrix_source<V> source(a, this->gpu);
    ASSERT_TRUE(source.has_rows());
    const stats wanted = measure(a);
    for (int turn = 0; turn < 2; ++turn) {
      const stats got = measure(source.rows(), look_at_rows(source.rows()));
      expect_same(got, wanted);
      expect_same(features_of(source, got, false), features_of(a, wanted, false));
    }
    EXPECT_EQ(source.is_symmetric(), is_symmetric(a));
    if (a.shape.rows == a.shape.cols) // others are refused before
      EXPECT_EQ(complaint([&] { source.check_symmetry(); }), complaint([&] { check_symmetry(a); }));
  }
}

TYPED_TEST(gpu_path, statistics_of_what_is_not_finite_are_those_of_the_host) {
  using V = TypeParam;
  for (const V bad : {std::numeric_limits<V>::quiet_NaN(), std::numeric_limits<V>::infinity()}) {
    auto a = kit::as_precision<V>(kit::laplacian(40, 30));
    a.val[777] = bad;
    const auto rows = send_rows(a);
    expect_same(measure(rows, look_at_rows(rows)), measure(a));
  }
}

TYPED_TEST(gpu_path, values_are_told_apart_by_their_bits) {
  using V = TypeParam;
  using bits = typename few_values<V>::bits;
  for (const int n : {1, 2, 255, 256, 257, 5000}) {
    host_array<V> values(300'000);
    for (index_t k = 0; k < values.size(); ++k) values[k] = V(1 + double((k / 7) % n) * 0x1p-20);
    EXPECT_EQ(distinct_on_gpu(as_cview(gpu_array<V>(values))), distinct_values(as_cview(values))) << n;
  }
  host_array<V> odd{V(0), V(-0.0), std::bit_cast<V>(~bits(0)), std::bit_cast<V>(~bits(0) - 1), V(3)};
  const auto got = distinct_on_gpu(as_cview(gpu_array<V>(odd))), wanted = distinct_values(as_cview(odd));
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_EQ(std::bit_cast<bits>(got[k]), std::bit_cast<bits>(wanted[k]));
}

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
      EXPECT_NE(complaint([&] { m.update_values(as_cview(other.val)); }), "nothing");
    }
    expect_same(m.to_triplets(), other);
    expect_same(before.to_triplets(), a);
  }
}

TYPED_TEST(gpu_path, preconditions_as_from_triplets) {
  using V = TypeParam;
  for (const char* spec : {"poisson3d:20", "anisotropic2d:60:0.01", "elasticity3d:7"}) {
    const auto a = kit::as_precision<V>(generate(spec).a);
    const matrix_source<V> source(a, this->gpu);
    const stats s = measure(a);
    for (const char* name : {"jacobi", "amg:sa", "amg", "none"}) {
      SCOPED_TRACE(std::string(spec) + " " + name);
      const solver_needs needed{.a = {true, true}, .m = {true, true}};
      const auto wanted = make_preconditioner<V>(name, a, this->gpu, needed);
      const auto got = make_preconditioner<V>(name, source, s, this->gpu, needed);
      EXPECT_EQ(got->describe(), wanted->describe());
      if (got->what() == any_preconditioner<V>::kind::identity) continue;
      const gpu_array<V> r(kit::random_vector<V>(a.shape.rows, 8));
      gpu_array<V> z(a.shape.rows), expected(a.shape.rows);
      got->apply(as_cview(r), as_view(z));
      wanted->apply(as_cview(r), as_view(expected));
      expect_same(host_array<V>(z), host_array<V>(expected), "z");
    }
  }
}

TYPED_TEST(gpu_path, a_diagonal_that_jacobi_refuses_is_named) {
  using V = TypeParam;
  auto a = kit::as_precision<V>(kit::laplacian(20, 20));
  for (const V bad : {V(0), V(-3)}) {
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] == 111 && a.col[k] == 111) a.val[k] = bad;
    host_array<V> x(400, V(0)), b(400, V(1));
    solve_options o;
    o.solver = "cg", o.precond = "jacobi", o.where = this->gpu;
    const auto report = solve(a, as_cview(b), as_view(x), o);
    EXPECT_EQ(report.why, status::not_positive_definite) << report.message;
    EXPECT_NE(report.message.find("diagonal entry 112"), std::string::npos) << report.message;
  }
}

TYPED_TEST(gpu_path, solves_from_rows_there_as_from_triplets) {
  using V = TypeParam;
  for (const char* spec : {"poisson3d:20", "convection2d:50:1"})
    for (const char* method : {"auto", "bicgstab"}) {
      SCOPED_TRACE(std::string(spec) + " " + method);
      const auto a = kit::as_precision<V>(generate(spec).a);
      const host_array<V> b(a.shape.rows, V(1));
      solve_options o;
      o.solver = method, o.where = this->gpu, o.rtol = sizeof(V) == 8 ? 1e-9 : 1e-4;
      host_array<V> x(a.shape.cols, V(0)), y(a.shape.cols, V(0));
      const auto one = solver<V>(a, o).solve(as_cview(b), as_view(x));
      const auto other = solver<V>(send<V, std::int64_t>(a, this->gpu), o).solve(as_cview(b), as_view(y));
      EXPECT_EQ(one.why, status::converged) << one.message;
      expect_same(y, x, "x");
      double parts = 0;
      for (const setup_part& p : one.setup_parts) parts += p.seconds;
      ASSERT_FALSE(one.setup_parts.empty());
      EXPECT_EQ(one.setup_parts.front().what, "upload");
      EXPECT_LE(parts, one.setup_seconds);
      EXPECT_EQ(other.format, one.format);
    }
}

} // namespace
} // namespace furrow
