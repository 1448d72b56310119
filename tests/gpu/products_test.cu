// SPDX-License-Identifier: BSD-3-Clause
// Products of sparse matrices on the GPU, beside the host's.
#include "on_gpu.hpp"

#include "matrix/gpu_products.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/amg/gpu_setup.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/storage.hpp>

#include <cmath>

namespace furrow {
namespace {

struct gpu_products : on_gpu {};

row_matrix<double> rows_of(coo<double> a) { return to_rows(std::move(a)); }

/// `length` draws a row, every fourth row empty, row 0 full where `hub`.
row_matrix<double> random_rows(index_t rows, index_t cols, index_t length, bool hub, std::uint64_t seed) {
  kit::splitmix random(seed);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < rows; ++i) {
    if (hub && i == 0) {
      for (index_t j = 0; j < cols; ++j) entries.push_back({i, j, random.value()});
      continue;
    }
    for (index_t k = random.below(4) == 0 ? length : 0; k < length; ++k)
      entries.push_back({i, random.below(cols), random.value()});
  }
  return rows_of(kit::assemble({rows, cols}, std::move(entries)));
}

/// The same entries; the same bits where the host does not fuse operations.
template <class A, class B> void expect_same_rows(const A& got, const B& wanted) {
  ASSERT_EQ(got.shape, wanted.shape);
  ASSERT_EQ(got.val.size(), wanted.val.size());
  for (index_t i = 0; i <= got.shape.rows; ++i) ASSERT_EQ(got.row_ptr[i], wanted.row_ptr[i]) << i;
  for (index_t k = 0; k < got.val.size(); ++k) {
    ASSERT_EQ(got.col[k], wanted.col[k]) << k;
    ASSERT_NEAR(got.val[k], wanted.val[k], 1e-13 * (1 + std::abs(wanted.val[k]))) << k;
  }
}

/// Rows of first, first + 1, ... entries.
row_matrix<double> rows_of_lengths(index_t rows, index_t first, std::uint64_t seed) {
  kit::splitmix random(seed);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < rows; ++i)
    for (index_t k = 0; k < first + i; ++k) entries.push_back({i, 2 * k, random.value()});
  return rows_of(kit::assemble({rows, 2 * (first + rows)}, std::move(entries)));
}

struct factors {
  row_matrix<double> a, b;
};
std::vector<factors> products() {
  std::vector<factors> all;
  all.push_back({random_rows(300, 200, 5, false, 1), random_rows(200, 150, 1, false, 2)});
  all.push_back({random_rows(500, 400, 7, false, 4), random_rows(400, 600, 4, false, 5)});
  all.push_back({random_rows(40, 900, 60, true, 6), random_rows(900, 700, 9, true, 7)});
  all.push_back({random_rows(50, 3000, 40, true, 8), random_rows(3000, 20000, 30, true, 9)}); // far tables
  all.push_back({rows_of(kit::laplacian(30, 20, 10)), rows_of(kit::laplacian(30, 20, 10))});
  // Lengths about 171, up to which a byte tells an entry, and short ones.
  all.push_back({rows_of(kit::laplacian(12, 1, 1)), rows_of_lengths(12, 164, 12)});
  all.push_back({rows_of_lengths(12, 1, 13), rows_of_lengths(26, 1, 14)});
  return all;
}

TEST_F(gpu_products, are_those_of_the_host) {
  auto all = products();
  all.push_back({random_rows(1, 1, 1, false, 3), random_rows(1, 1, 1, false, 3)});
  all.push_back({random_rows(20, 10, 3, false, 10), random_rows(10, 5000, 400, true, 11)});
  for (const factors& f : all) {
    const auto wanted = multiply(f.a.view(), f.b.view());
    const auto a = amg::uploaded(f.a.view()), b = amg::uploaded(f.b.view());
    const auto first = download(gpu::multiply(a, b));
    expect_same_rows(first, wanted);
    if (f.b.shape.cols <= 700) { // unsorted rows are as good as factors
      const auto sorted = download(gpu::multiply(gpu::multiply(a, b, gpu::row_order::any), gpu::transposed(b)));
      const auto back = transposed(f.b.view());
      expect_same_rows(sorted, multiply(wanted.view(), back.view()));
    }
    for (int turn = 0; turn < 3; ++turn) {
      const auto again = download(gpu::multiply(a, b));
      for (index_t k = 0; k < first.val.size(); ++k) ASSERT_EQ(again.val[k], first.val[k]) << k;
    }
  }
}

/// Other values of the same places.
row_matrix<double> with_other_values(const row_matrix<double>& a, std::uint64_t seed) {
  row_matrix<double> other = a;
  kit::splitmix random(seed);
  for (double& v : other.val) v = random.value();
  return other;
}

/// Entries of the same rows in any order.
template <class Rows>
void expect_same_by_columns(const Rows& wanted, const host_array<std::int32_t>& col, const host_array<double>& val) {
  ASSERT_EQ(val.size(), wanted.val.size());
  for (index_t i = 0; i < wanted.shape.rows; ++i) {
    std::vector<std::pair<std::int32_t, double>> row;
    for (index_t k = wanted.row_ptr[i]; k < wanted.row_ptr[i + 1]; ++k) row.push_back({col[k], val[k]});
    std::ranges::sort(row);
    for (std::size_t l = 0; l < row.size(); ++l) {
      ASSERT_EQ(row[l].first, wanted.col[wanted.row_ptr[i] + index_t(l)]) << i;
      ASSERT_EQ(row[l].second, wanted.val[wanted.row_ptr[i] + index_t(l)]) << i << ", " << row[l].first;
    }
  }
}

TEST_F(gpu_products, of_other_values_in_known_places_have_the_same_bits) {
  for (const factors& f : products())
    for (const auto order : {gpu::row_order::sorted, gpu::row_order::any}) {
      gpu::rows_by_table kept;
      const auto places = gpu::multiply(amg::uploaded(f.a.view()), amg::uploaded(f.b.view()), order, &kept);
      for (const std::uint64_t seed : {21, 31, 41}) { // the first finds where addends go, others know it
        const auto other_a = with_other_values(f.a, seed), other_b = with_other_values(f.b, seed + 1);
        const auto a = amg::uploaded(other_a.view()), b = amg::uploaded(other_b.view());
        gpu_array<double> val(places.val.size());
        gpu::multiply_again(view_of(a), view_of(b), kept, view_of(places), as_view(val));
        expect_same_by_columns(download(gpu::multiply(a, b)), host_array<std::int32_t>(places.col),
                               host_array<double>(val));
        if (HasFatalFailure()) return;
      }
    }
}

TEST_F(gpu_products, transposed_are_those_of_the_host) {
  for (const auto& a : {random_rows(300, 200, 5, false, 1), random_rows(7, 5000, 9, true, 2),
                        random_rows(5000, 7, 3, true, 3), random_rows(1, 1, 0, false, 4)})
    expect_same_rows(download(gpu::transposed(amg::uploaded(a.view()))), transposed(a.view()));
}

} // namespace
} // namespace furrow
