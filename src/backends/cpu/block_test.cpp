// SPDX-License-Identifier: BSD-3-Clause
// Products with several vectors at once, in every format.
#include "kit/guarded.hpp"
#include "kit/operator_check.hpp"
#include "kit/serves.hpp"

#include <furrow/generate.hpp>

namespace furrow {
namespace {

template <class V> struct block_product : testing::Test {
  /// The kernel's Y <- A X against the reference of every vector.
  static void check_block(const any_operator<V>& op, const coo<V>& a, index_t count) {
    const auto x = kit::random_vector<V>(a.shape.cols * count, 9);
    kit::guarded<V, kit::host_side> guarded_x(x),
        guarded_y = kit::guarded<V, kit::host_side>::unwritten(a.shape.rows * count);
    op.apply_block(guarded_x.get(), guarded_y.get(), count);
    const auto y = guarded_y.take();
    for (index_t k = 0; k < count; ++k) {
      host_array<V> one_x(a.shape.cols), one_y(a.shape.rows);
      for (index_t i = 0; i < one_x.size(); ++i) one_x[i] = x[i * count + k];
      for (index_t i = 0; i < one_y.size(); ++i) one_y[i] = y[i * count + k];
      const auto truth = kit::reference_product(a, V(1), as_cview(one_x), V(0), as_cview(one_y));
      EXPECT_LE(kit::row_error(truth, as_cview(one_y)), 1) << "vector " << k << " of " << count;
    }
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(block_product, precisions);

TYPED_TEST(block_product, is_right_in_every_format_and_kernel) {
  using V = TypeParam;
  for (const auto& matrix :
       {kit::laplacian(13, 7), kit::assemble({5, 9}, {{0, 8, 2}, {2, 0, -1}, {2, 4, 3}, {4, 8, 7}}),
        kit::assemble({3, 3}, {}), kit::diagonal({4}),
        kit::from_function(11, [](index_t i, index_t j) { return 1.0 / double(i + 2 * j + 1); })}) {
    const auto a = kit::as_precision<V>(matrix);
    for (const format_entry* f : formats()) {
      if (!kit::serves(*f, matrix)) continue;
      for (const kernel_entry& k : f->backend(device{}).kernels)
        for (const index_t count : {1, 2, 3, 4, 7, 8, 16, 17}) {
          SCOPED_TRACE(std::string(f->name) + ", " + std::string(k.name));
          const auto op = f->backend(device{}).template make<V>()(a, "", k.name);
          this->check_block(*op, a, count);
        }
    }
  }
}

TYPED_TEST(block_product, has_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("elasticity3d:9").a);
  const auto x = kit::random_vector<V>(a.shape.cols * 8, 3);
  for (const char* name : {"csr", "bcsr", "sell", "packed"}) {
    const auto op = make<V>(choose(measure(a), precision_of<V>, device{}, {name, "auto"}), device{}, a);
    host_array<V> first(a.shape.rows * 8), again(a.shape.rows * 8);
    set_threads(1);
    op->apply_block(as_cview(x), as_view(first), 8);
    set_threads(3);
    op->apply_block(as_cview(x), as_view(again), 8);
    set_threads(0);
    EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(again))) << name;
  }
}

TYPED_TEST(block_product, refuses_vectors_that_do_not_fit) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(4, 3));
  const auto op = make<V>(choose(measure(a), precision_of<V>, device{}), device{}, a);
  host_array<V> x(24, V(1)), y(24);
  const auto refuses = [&](cview<V> from, view<V> to, index_t count) {
    EXPECT_THROW(op->apply_block(from, to, count), error);
  };
  refuses(as_cview(x), as_view(y), 3);
  refuses(as_cview(x), as_view(y), 0);
  refuses(as_cview(x), as_view(x), 2);
  refuses({nullptr, 24}, as_view(y), 2);
}

} // namespace
} // namespace furrow
