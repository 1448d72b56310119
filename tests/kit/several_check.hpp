// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "guarded.hpp"
#include "matrices.hpp"
#include "operator_check.hpp"
#include "random.hpp"
#include "row_error.hpp"
#include "serves.hpp"

#include "matrix/several.hpp"

#include <furrow/formats.hpp>

/// Products with several vectors, in either memory.
namespace furrow::kit {

/// Every vector of Y <- alpha A X + beta Y against the reference; beta == 0 does not read Y.
template <class V, class Side>
void check_several(const any_operator<V>& op, const coo<V>& a, index_t count, storage_order order, V alpha, V beta) {
  const index_t rows = a.shape.rows, cols = a.shape.cols;
  const auto place = [&](index_t i, index_t k, index_t n) {
    return order == storage_order::row_major ? i * count + k : k * n + i;
  };
  const auto x = random_vector<V>(cols * count, 9), before = random_vector<V>(rows * count, 4);
  guarded<V, Side> guarded_x(x);
  auto guarded_y = beta == V(0) ? guarded<V, Side>::unwritten(rows * count) : guarded<V, Side>(before);
  apply_several<V>(op, alpha, guarded_x.get(), beta, guarded_y.get(), count, order);
  const auto y = guarded_y.take();
  for (index_t k = 0; k < count; ++k) {
    host_array<V> one_x(cols), was(rows), one_y(rows);
    for (index_t i = 0; i < cols; ++i) one_x[i] = x[place(i, k, cols)];
    for (index_t i = 0; i < rows; ++i) {
      was[i] = before[place(i, k, rows)];
      one_y[i] = y[place(i, k, rows)];
    }
    const auto truth = reference_product(a, alpha, as_cview(one_x), beta, as_cview(was));
    EXPECT_LE(row_error(truth, as_cview(one_y)), 1) << "vector " << k << " of " << count;
  }
}

/// In every format, in both orders, by one pass and by copies, where the device is selected.
template <class V, class Side> void check_several_in_all_formats(device where) {
  for (const auto& matrix : {laplacian(13, 7), assemble({5, 9}, {{0, 8, 2}, {2, 0, -1}, {2, 4, 3}, {4, 8, 7}}),
                             from_function(40, [](index_t i, index_t j) { return 1.0 / double(i + 2 * j + 1); })}) {
    const auto a = as_precision<V>(matrix);
    for (const format_entry* f : formats()) {
      if (!serves(*f, matrix)) continue;
      SCOPED_TRACE(f->name);
      const auto op = f->backend(where).template make<V>()(a, "", "auto");
      for (const auto order : {storage_order::row_major, storage_order::col_major})
        for (const index_t count : {2, 3, 5, 8, 13, 16, 17, 33}) {
          check_several<V, Side>(*op, a, count, order, V(1), V(0));
          check_several<V, Side>(*op, a, count, order, V(-2), V(3));
          check_several<V, Side>(*op, a, count, order, V(0), V(3));
          check_several<V, Side>(*op, a, count, order, V(2), V(0));
        }
    }
  }
}

} // namespace furrow::kit
