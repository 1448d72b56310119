// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "backends/gpu/queue.hpp"
#include "formats/stencil/convert.hpp"
#include "formats/stencil/march.hpp"
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace furrow {
namespace {

template <class V> struct gpu_march : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_march, precisions);

struct box {
  index_t x, y, z;
};

/// On a box of points, an entry value(row, dx, dy, dz) for each neighbour that is there, and none where it is 0.
template <class F> coo<double> on_box(box n, F value) {
  std::vector<kit::triplet> entries;
  for (index_t row = 0; row < n.x * n.y * n.z; ++row)
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          const index_t x = row % n.x + dx, y = row / n.x % n.y + dy, z = row / n.x / n.y + dz;
          const double v = value(row, dx, dy, dz);
          if (x >= 0 && x < n.x && y >= 0 && y < n.y && z >= 0 && z < n.z && v != 0)
            entries.push_back({row, (z * n.y + y) * n.x + x, v});
        }
  return kit::assemble({n.x * n.y * n.z, n.x * n.y * n.z}, std::move(entries));
}
int apart(int dx, int dy, int dz) { return std::abs(dx) + std::abs(dy) + std::abs(dz); }

/// The rows and columns before the given ones.
coo<double> corner(const coo<double>& a, shape2 shape) {
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] < shape.rows && a.col[k] < shape.cols) entries.push_back({a.row[k], a.col[k], a.val[k]});
  return kit::assemble(shape, std::move(entries));
}

struct marched {
  std::string name;
  coo<double> a;
  bool all; ///< all rows are told by their bits
};
std::vector<marched> grids() {
  const auto seven = [](index_t, int dx, int dy, int dz) {
    return apart(dx, dy, dz) > 1 ? 0.0 : dx + dy + dz ? -1.0 : 6;
  };
  const auto of_each_side = [](index_t, int dx, int dy, int dz) { return 1.0 / (14 + 9 * dz + 3 * dy + dx); };
  std::vector<marched> all{
      {"7 points", on_box({20, 11, 9}, seven), true},
      {"27 points", on_box({13, 12, 10}, of_each_side), true},
      {"5 points", generate("poisson2d:90").a, true},
      {"9 points", generate("stencil2d9:70").a, true},
      {"values of both signs at a place",
       on_box({14, 9, 11}, [](index_t, int dx, int dy, int dz) { return dz > 0 ? 1.0 + dx + 2 * dy : -1.5 - dx * dy; }),
       true},
      {"19 points",
       on_box({15, 9, 8}, [](index_t, int dx, int dy, int dz) { return apart(dx, dy, dz) > 2 ? 0 : 2.0 + dx; }), true},
      {"from one side",
       on_box({12, 12, 12},
              [](index_t, int dx, int dy, int dz) { return apart(dx, dy, dz) > 1 || dx + dy + dz > 0 ? 0 : 3.0 + dx; }),
       true},
      {"entries that are missing here and there",
       on_box({16, 10, 12},
              [&](index_t row, int dx, int dy, int dz) {
                return row * 7919 % 13 == 0 && (dx + dy + dz == 1 || dz == -1) ? 0 : of_each_side(row, dx, dy, dz);
              }),
       true},
      {"a line longer than a tile", on_box({700, 6, 5}, seven), true},
      {"no whole planes", corner(on_box({12, 11, 10}, seven), {1234, 1234}), true},
      {"more columns", corner(on_box({12, 11, 10}, seven), {1000, 1200}), true},
      {"fewer columns", corner(on_box({12, 11, 10}, seven), {1200, 1000}), true},
      {"rows of another stencil",
       on_box({20, 20, 10}, [&](index_t row, int dx, int dy,
                                int dz) { return row % 11 == 3 && dx + dy + dz == 0 ? 7 : seven(row, dx, dy, dz); }),
       false}};
  auto own = on_box({20, 20, 10}, seven);
  for (index_t k = 0; k < own.nnz(); ++k)
    if (own.row[k] % 17 == 5 && own.row[k] > 800) own.val[k] = 1 + double(own.row[k]) / 4096;
  all.push_back({"rows beside the table", std::move(own), false});
  return all;
}

/// Y by sums that are rounded once an entry, in the order of the entries.
template <class V> host_array<V> in_order(const coo<V>& a, cview<V> x, index_t count) {
  host_array<V> y(a.shape.rows * count, V(0));
  for (index_t k = 0; k < a.nnz(); ++k)
    for (index_t q = 0; q < count; ++q) {
      V& sum = y[a.row[k] * count + q];
      sum = std::fma(a.val[k], x[a.col[k] * count + q], sum);
    }
  return y;
}

template <class V> bool same(V a, V b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class V> struct parts_of {
  stencil<V, std::uint8_t, host_array> matrix;
  std::optional<stencil_planes<V>> planes;
};
template <class V> parts_of<V> stored(const coo<V>& a) {
  const auto plan = plan_stencils(a);
  parts_of<V> made{to_stencil<std::uint8_t>(a, plan), {}};
  std::vector<index_t> uses;
  for (const auto& s : plan.table) uses.push_back(s.uses);
  made.planes =
      find_planes(host_stencil_table<V>{made.matrix.start, made.matrix.offset, made.matrix.val}, uses, a.shape.rows, 3);
  return made;
}

TYPED_TEST(gpu_march, adds_entries_in_their_order) {
  using V = TypeParam;
  for (const auto& m : grids()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    const auto made = stored(a);
    ASSERT_TRUE(made.planes);
    const gpu::stencil_march<V> march(*made.planes, a.shape, gpu::current_queue().multiprocessors);
    const gpu_array<std::uint8_t> number(made.matrix.number);
    for (const index_t count : {2, 4, 8, 16}) {
      auto x = kit::random_vector<V>(a.shape.cols * count, 7);
      x[5 * count] = std::numeric_limits<V>::infinity(); // reaches its neighbours and no other row
      x[a.shape.cols / 2 * count + 1] = std::numeric_limits<V>::quiet_NaN();
      x[a.shape.cols / 3 * count] = -V(0);
      kit::guarded<V, kit::gpu_side> guarded_x(x);
      auto guarded_y = kit::guarded<V, kit::gpu_side>(host_array<V>(a.shape.rows * count, V(77)));
      const bool can = march.multiply(as_cview(number), guarded_x.get(), guarded_y.get(), count);
      EXPECT_EQ(can, count * sizeof(V) >= 16);
      if (!can) continue;
      const auto y = guarded_y.take(), expected = in_order(a, as_cview(x), count);
      index_t wrong = 0, left = 0;
      for (index_t i = 0; i < a.shape.rows; ++i) {
        const bool told = made.planes->is_told_by_bits(made.matrix.number[i]);
        left += !told;
        for (index_t q = i * count; q < (i + 1) * count; ++q) wrong += !same(y[q], told ? expected[q] : V(77));
      }
      EXPECT_EQ(wrong, 0) << count << " vectors";
      EXPECT_EQ(left == 0, m.all);
    }
  }
}

/// Whole operators, with the rows that no block marches over: the bits of the kernel that goes row by row.
TYPED_TEST(gpu_march, products_have_the_bits_that_they_have_row_by_row) {
  using V = TypeParam;
  for (const char* spec : {"stencil3d27:32", "poisson3d:60", "poisson2d:420", "varying3d:50:0.5"}) {
    SCOPED_TRACE(spec);
    const auto a = kit::as_precision<V>(generate(spec).a);
    const auto op = find_format("stencil").gpu.template make<V>()(a, "0", "auto");
    for (const index_t count : {4, 16}) {
      const auto x = kit::random_vector<V>(a.shape.cols * count, 3);
      const gpu_array<V> there(x);
      auto y = kit::guarded<V, kit::gpu_side>::unwritten(a.shape.rows * count);
      op->apply_block(as_cview(there), y.get(), count);
      EXPECT_TRUE(kit::same_bits(as_cview(y.take()), as_cview(in_order(a, as_cview(x), count)))) << count;
    }
  }
}

} // namespace
} // namespace furrow
