// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "kit/gemv_check.hpp"
#include "kit/random.hpp"

#include <cmath>

namespace furrow {
namespace {

template <class T> struct gpu_gemv : on_gpu {};
using storage_types = testing::Types<double, float, half, bfloat16>;
TYPED_TEST_SUITE(gpu_gemv, storage_types);

TYPED_TEST(gpu_gemv, is_exact_on_integers_in_every_variant) {
  kit::check_all_gemv<TypeParam, kit::gpu_side>(this->gpu);
}

TYPED_TEST(gpu_gemv, is_exact_on_very_long_shapes) {
  for (const shape2 shape :
       {shape2{1, 1000003}, {1000003, 1}, {2, 1000003}, {1000003, 2}, {20, 100003}, {100003, 20}, {64, 100000},
        {100000, 64},       {1000, 3000}, {3000, 1000}, {50000, 200}, {200, 50000}, {1, 100000},  {2, 1000000},
        {3, 100000},        {4, 100000},  {5, 100000},  {6, 100000},  {7, 100000},  {8, 100000},  {9, 100000},
        {10, 100000},       {4096, 4096}, {2048, 8192}, {2200, 8192}, {600, 4096},  {600, 8192},  {300, 16384}})
    for (const bool transposed : {false, true})
      for (const auto order : {storage_order::row_major, storage_order::col_major}) {
        kit::gemv_case q;
        q.shape = shape;
        q.transposed = transposed;
        q.order = order;
        kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
        q.count = 8;
        if (shape.rows * shape.cols < 5'000'000) kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
      }
}

/// Many lines that are added up: short ones, as one stream, ones that end within a load, and ones with many outputs.
TYPED_TEST(gpu_gemv, is_exact_on_many_lines) {
  const index_t many = 280'000 / index_t(sizeof(TypeParam));
  for (const shape2 shape : {shape2{5'000'003, 8}, {40'001, 501}, {many, 1000}}) {
    kit::gemv_case q;
    q.shape = shape;
    q.transposed = true;
    kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
    if (shape.cols == 1000) continue;
    q.f64_sums = sizeof(TypeParam) == 4;
    q.x_stride = 2;
    q.y_stride = -1;
    q.beta = 2;
    q.padding = 4;
    kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
  }
}

/// The same for lines of 32 bytes.
TYPED_TEST(gpu_gemv, is_exact_on_streams_of_lines_of_32_bytes) {
  for (const bool f64_sums : {false, true})
    for (const index_t x_stride : {1, -1}) {
      kit::gemv_case q;
      q.shape = {1'200'011, 32 / index_t(sizeof(TypeParam))};
      q.transposed = true;
      q.f64_sums = f64_sums && sizeof(TypeParam) == 4;
      q.x_stride = x_stride;
      q.beta = f64_sums ? 2 : 0;
      kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
    }
}

/// Shapes for which there are kernels without questions: the sums in double as well, and a y that is read.
TYPED_TEST(gpu_gemv, is_exact_where_nothing_is_left_over) {
  for (const shape2 shape : {shape2{4096, 4096}, {2200, 8192}, {4096, 8192}, {2048, 16384}})
    for (const bool transposed : {false, true}) {
      kit::gemv_case q;
      q.shape = shape;
      q.transposed = transposed;
      q.f64_sums = sizeof(TypeParam) == 4;
      q.y_stride = -1;
      q.beta = 2;
      kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
    }
}

/// Where each way fits, on 132 multiprocessors.
TYPED_TEST(gpu_gemv, is_exact_by_every_way_by_name) {
  constexpr index_t size = sizeof(TypeParam);
  for (const auto& way : gemv_kernels(this->gpu)) {
    if (way.name == "naive" || way.name == "tiled") continue;
    int served = 0;
    for (const shape2 shape : {shape2{100'003, 2},
                               {2200, 8192},
                               {9000, 320 / size},
                               {40'001, 5},
                               {4, 100'000},
                               {40'001, 501},
                               {5, 100'000},
                               {4096, 8192},
                               {600, 4096},
                               {40'001, 13}})
      for (const index_t padding : {0, 3})
        for (const double beta : {0., 2.}) {
          kit::gemv_case q;
          q.shape = shape;
          q.transposed = way.across;
          q.padding = padding;
          q.beta = beta;
          q.kernel = way.name;
          try {
            kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
            ++served;
          } catch (const error& e) {
            EXPECT_NE(std::string(e.what()).find("does not serve"), std::string::npos) << e.what();
          }
        }
    EXPECT_GT(served, 0) << way.name;
  }
}

TYPED_TEST(gpu_gemv, is_exact_on_more_problems_than_a_grid_has_places_for) {
  for (const bool transposed : {false, true})
    for (const bool lists : {false, true})
      for (const double alpha : {0., 1.}) {
        kit::gemv_case q;
        q.shape = {3, 5};
        q.transposed = transposed;
        q.batch = 70'001;
        q.lists = lists;
        q.alpha = alpha;
        q.beta = 2;
        kit::check_gemv<TypeParam, kit::gpu_side>(q, this->gpu);
      }
}

/// Random data, so that another order of summation would show.
TYPED_TEST(gpu_gemv, repeats_its_bits_and_stays_within_the_row_bound) {
  using V = vector_value<TypeParam>;
  for (const shape2 shape : {shape2{600, 700},
                             {3, 700001},
                             {700001, 3},
                             {40, 90001},
                             {90001, 40},
                             {8, 200000},
                             {40, 90000},
                             {300, 8192},
                             {2000, 2000},
                             {2'000'000, 12},
                             {90'000, 100}}) {
    host_array<TypeParam> a(shape.rows * shape.cols);
    const auto values = kit::random_vector<float>(a.size(), 1);
    for (index_t k = 0; k < a.size(); ++k) a[k] = TypeParam(values[k]);
    const gpu_array<TypeParam> there(a);
    for (const bool transposed : {false, true}) {
      const index_t terms = transposed ? shape.rows : shape.cols, outputs = transposed ? shape.cols : shape.rows;
      const auto x = kit::random_vector<V>(terms, 2);
      const gpu_array<V> there_x(x);
      gpu_array<V> there_y(outputs);
      const auto run = [&] {
        gemv<TypeParam>(1, {there.data(), shape, shape.cols}, as_cview(there_x), 0, as_view(there_y),
                        {transposed, false, this->gpu});
        return host_array<V>(there_y);
      };
      const auto y = run();
      for (int k = 0; k < 100; ++k) {
        const auto again = run();
        ASSERT_TRUE(kit::same_bits(as_cview(y), as_cview(again))) << shape.rows << ", repeat " << k;
      }
      std::vector<long double> sum(static_cast<std::size_t>(outputs)), size(sum.size());
      for (index_t i = 0; i < shape.rows; ++i)
        for (index_t j = 0; j < shape.cols; ++j) {
          const auto at = static_cast<std::size_t>(transposed ? j : i);
          const auto product = static_cast<long double>(V(a[i * shape.cols + j])) * x[transposed ? i : j];
          sum[at] += product;
          size[at] += std::fabs(product);
        }
      const long double u = std::numeric_limits<V>::epsilon() / 2;
      for (index_t i = 0; i < outputs; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_LE(std::fabs(y[i] - sum[at]), static_cast<long double>(terms + 2) * u * size[at]) << i;
      }
    }
  }
}

struct gpu_gemv_huge : on_gpu {};

/// m n > 2^31: all elements of A are 1, so that every sum is the sum of x.
TEST_F(gpu_gemv_huge, more_elements_than_32_bits_count) {
  for (const shape2 shape : {shape2{3, 800'000'011}, {800'000'011, 3}, {50'000, 50'000}}) {
    const index_t elements = shape.rows * shape.cols, vectors = shape.rows + shape.cols;
    if (available_gpu_memory(0) < elements * 2 + vectors * 4 + (index_t(1) << 28))
      GTEST_SKIP() << "not enough GPU memory for " << elements << " elements of f16";
    host_array<half> piece(1 << 20, half(1.0f));
    gpu_array<half> a(elements);
    for (index_t k = 0; k < elements; k += piece.size())
      copy_bytes(gpu_memory{}, a.data() + k, host_memory{}, piece.data(),
                 static_cast<std::size_t>(std::min(piece.size(), elements - k)) * sizeof(half));
    for (const bool transposed : {false, true}) {
      const index_t terms = transposed ? shape.rows : shape.cols, outputs = transposed ? shape.cols : shape.rows;
      host_array<float> x(terms, 0.0f);
      for (index_t k = 0; k < terms; k += std::max<index_t>(1, terms / 1000)) x[k] = 1; // a count that f32 holds
      x[terms - 1] = 1;
      float expected = 0;
      for (const float v : x) expected += v;
      const gpu_array<float> there_x(x);
      gpu_array<float> there_y(outputs);
      gemv<half>(1, {a.data(), shape, shape.cols}, as_cview(there_x), 0, as_view(there_y), {transposed, false, gpu});
      const host_array<float> y(there_y);
      for (index_t i = 0; i < outputs; ++i) ASSERT_EQ(y[i], expected) << i;
    }
  }
}

} // namespace
} // namespace furrow
