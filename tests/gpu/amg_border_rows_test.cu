// SPDX-License-Identifier: BSD-3-Clause
// What multigrid over ranks does on a GPU with the rows at the border of a rank, beside plain loops of the host.
#include "on_gpu.hpp"

#include "distributed/amg/gpu_rows.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/amg/gpu_setup.hpp"
#include "preconditioners/amg/prolongation.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace furrow {
namespace {

struct gpu_border_rows : on_gpu {};

using entries = std::vector<kit::triplet>;
using numbers = std::vector<std::int32_t>;

amg::device_matrix there(const coo<double>& a) {
  const auto rows = to_rows(coo<double>(a));
  return amg::uploaded(rows.view());
}
/// Rows of about `length` entries in [first, last), some of them empty.
entries some_rows(index_t rows, index_t first, index_t last, index_t length, std::uint64_t seed) {
  kit::splitmix random(seed);
  std::set<std::pair<index_t, index_t>> places;
  for (index_t i = 0; i < rows; ++i)
    for (index_t k = random.below(2 * length + 1); k > 0; --k) places.insert({i, first + random.below(last - first)});
  entries all;
  for (const auto& [i, j] : places) all.push_back({i, j, random.value()});
  return all;
}
numbers ascending(index_t first, index_t last, index_t every) {
  numbers all;
  for (index_t j = first; j < last; j += every) all.push_back(static_cast<std::int32_t>(j));
  return all;
}

template <class A> void expect_elements(const gpu_array<A>& got, const std::vector<A>& wanted) {
  const host_array<A> home(got);
  ASSERT_EQ(home.size(), index_t(wanted.size()));
  for (index_t k = 0; k < home.size(); ++k) ASSERT_EQ(home[k], wanted[std::size_t(k)]) << k;
}

/// Triplets, with a row of `far` named by `row_of`.
entries entries_of(const amg::far_rows<double>& far) {
  const host_array<index_t> begins(far.begins);
  const host_array<std::int32_t> row(far.row_of), col(far.columns);
  const host_array<double> val(far.values);
  entries all;
  EXPECT_EQ(begins.size(), row.size() + 1);
  for (index_t k = 0; k < row.size(); ++k) {
    EXPECT_LT(begins[k], begins[k + 1]) << "a row without entries is named";
    for (index_t e = begins[k]; e < begins[k + 1]; ++e) all.push_back({row[k], col[e], val[e]});
  }
  return all;
}
template <class W> entries entries_of(const amg::rows<W, gpu_array>& a) {
  const host_array<index_t> begins(a.row_ptr);
  const host_array<std::int32_t> col(a.col);
  const host_array<W> val(a.val);
  entries all;
  for (index_t i = 0; i < a.shape.rows; ++i)
    for (index_t e = begins[i]; e < begins[i + 1]; ++e) all.push_back({i, col[e], double(val[e])});
  return all;
}
void expect_same(const entries& got, const entries& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].row, wanted[k].row) << k;
    ASSERT_EQ(got[k].col, wanted[k].col) << k;
    ASSERT_EQ(got[k].value, wanted[k].value) << k;
  }
}

TEST_F(gpu_border_rows, name_columns_as_the_host_does) {
  kit::splitmix random(3);
  for (const index_t count : {0, 1, 40, 5000}) {
    amg::columns_there names{1000, 300, gpu_array<std::int32_t>(host_array<std::int32_t>{7, 900, 1300, 1400}), {}};
    std::vector<std::int32_t> globals(static_cast<std::size_t>(count));
    for (auto& j : globals) j = static_cast<std::int32_t>(random.below(2500)) - 100; // negative ones are none
    std::set<std::int32_t> fresh;
    for (const std::int32_t j : globals)
      if (j >= 0 && (j < 1000 || j >= 1300) && j != 7 && j != 900 && j != 1300 && j != 1400) fresh.insert(j);
    const auto on_device = gpu::on_device(globals);
    names.more = amg::others_among(as_cview(on_device), names.seen());
    expect_elements(names.more, {fresh.begin(), fresh.end()});
    // There and back: own ones, others, and those that came later.
    std::vector<std::int32_t> all{1000, 1299, 7, 900, 1300, 1400};
    all.insert(all.end(), fresh.begin(), fresh.end());
    auto col = gpu::on_device(all);
    amg::name_here(as_view(col), names.seen());
    const host_array<std::int32_t> local(col);
    EXPECT_EQ(local[0], 0);
    EXPECT_EQ(local[1], 299);
    for (index_t k = 2; k < local.size(); ++k) EXPECT_EQ(local[k], 300 + k - 2);
    gpu_array<std::int32_t> back(col.size());
    amg::name_for_all(as_cview(col), names.seen(), back.data());
    expect_elements(back, all);
  }
}

TEST_F(gpu_border_rows, are_told_from_the_others) {
  for (const index_t others : {0, 1, 90}) {
    const index_t rows = 500, own = 200;
    auto all = some_rows(rows, 0, own, 4, 1);
    if (others > 0)
      for (const auto& e : some_rows(rows / 9, own, own + others, 2, 2)) all.push_back({e.row * 9, e.col, e.value});
    const auto a = kit::assemble({rows, own + others}, all);
    const auto device = there(a);
    entries near, far;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.col[k] < own) near.push_back({a.row[k], a.col[k], a.val[k]});
      else far.push_back({a.row[k], a.col[k] - own, a.val[k]});
    const auto found = amg::far_block(device, rows, own);
    expect_same(entries_of(found), far);
    const auto every_ninth = gpu::on_device(ascending(0, rows, 9));
    expect_same(entries_of(amg::far_block_of(amg::picked_rows(device, every_ninth), every_ninth, own)), far);
    expect_same(entries_of(amg::own_block(device, own)), near);
    expect_same(entries_of(amg::without_far<double>(device, found, own, 1)), near);
    expect_same(entries_of(amg::without_far<double>(there(a), found, own, 1)), near);
    for (auto& e : near) e.value = double(float(2 * e.value));
    expect_same(entries_of(amg::without_far<float>(device, found, own, 2)), near);
  }
}

TEST_F(gpu_border_rows, are_turned_over) {
  for (const index_t rows : {0, 1, 300}) {
    const auto a = kit::assemble({rows, 70000}, some_rows(rows, 100, 70000, 5, 4));
    entries wanted;
    for (index_t k = 0; k < a.nnz(); ++k) wanted.push_back({a.col[k], a.row[k], a.val[k]});
    std::ranges::sort(wanted, {}, [](const kit::triplet& e) { return std::pair(e.row, e.col); });
    expect_same(entries_of(amg::transposed_far(there(a))), wanted);
  }
}

TEST_F(gpu_border_rows, come_behind_the_own_ones_where_there_is_room_and_where_there_is_none) {
  const auto a = kit::assemble({100, 50}, some_rows(100, 0, 50, 3, 1)),
             more = kit::assemble({30, 80}, some_rows(30, 0, 80, 3, 2));
  entries wanted;
  for (index_t k = 0; k < a.nnz(); ++k) wanted.push_back({a.row[k], a.col[k], a.val[k]});
  for (index_t k = 0; k < more.nnz(); ++k) wanted.push_back({100 + more.row[k], more.col[k], more.val[k]});
  for (const index_t spare : {0, 1000}) {
    auto device = there(a);
    const auto roomy = [&](auto& array) { array.extend(array.size() + spare), array.resize(array.size() - spare); };
    roomy(device.row_ptr), roomy(device.col), roomy(device.val);
    amg::append(device, there(more));
    EXPECT_EQ(device.shape, (shape2{130, 80}));
    expect_same(entries_of(device), wanted);
  }
}

/// P'A P of a rank as it was before, by one product of all rows: own row i plus those that others send for it, in
/// order.
TEST_F(gpu_border_rows, get_what_others_have_worked_out_for_them) {
  constexpr index_t first = 1000, own = 400;
  const numbers others = ascending(300, 900, 7), more = ascending(1500, 1900, 11);
  const auto name = [&](std::int32_t local) {
    const index_t k = local - own, l = k - index_t(others.size());
    return local < own ? static_cast<std::int32_t>(first + local)
           : l < 0     ? others[std::size_t(k)]
                       : more[std::size_t(l)];
  };
  for (const index_t come : {0, 1, 60, 900}) {
    const index_t wide = own + index_t(others.size() + more.size());
    auto mine = some_rows(own, 0, own, 6, 1);
    for (const auto& e : some_rows(own / 5, own, wide, 2, 2)) mine.push_back({5 * e.row, e.col, e.value});
    for (const auto& e : some_rows(20, 0, wide, 5, 3)) mine.push_back({own + e.row, e.col, e.value}); // rows that went
    const auto part = kit::assemble({own + 20, wide}, mine);

    kit::splitmix random(9);
    const auto theirs = kit::assemble({come, 2500}, some_rows(come, 200, 2500, 4, 5));
    amg::loose_rows loose{host_array<std::int32_t>(come, 0), theirs.col, theirs.val};
    for (const std::int32_t row : theirs.row) ++loose.length[row];
    numbers to(static_cast<std::size_t>(come));
    for (auto& i : to) i = static_cast<std::int32_t>(come == 1 ? own - 1 : random.below(own / 3)); // some often

    // The columns of others that occur, and the sums of all rows.
    std::set<std::int32_t> columns;
    const auto is_own = [&](std::int32_t j) { return j >= first && j < first + own; };
    for (index_t k = 0; k < part.nnz(); ++k)
      if (part.row[k] < own && !is_own(name(part.col[k]))) columns.insert(name(part.col[k]));
    for (const std::int32_t j : theirs.col)
      if (!is_own(j)) columns.insert(j);
    const numbers order(columns.begin(), columns.end());
    const auto local = [&](std::int32_t j) {
      return is_own(j) ? j - std::int32_t(first)
                       : static_cast<std::int32_t>(own + (std::ranges::lower_bound(order, j) - order.begin()));
    };
    entries stacked, sums;
    for (index_t k = 0; k < part.nnz(); ++k)
      if (part.row[k] < own) stacked.push_back({part.row[k], local(name(part.col[k])), part.val[k]});
    for (index_t k = 0; k < theirs.nnz(); ++k)
      stacked.push_back({own + theirs.row[k], local(theirs.col[k]), theirs.val[k]});
    for (index_t i = 0; i < own; ++i) sums.push_back({i, i, 1});
    for (index_t k = 0; k < come; ++k) sums.push_back({to[std::size_t(k)], own + k, 1});
    const auto left = to_rows(kit::assemble({own, own + come}, sums)),
               right = to_rows(kit::assemble({own + come, own + index_t(order.size())}, stacked));
    const auto wanted = multiply(left.view(), right.view());

    const amg::columns_there names{first, own, gpu::on_device(others), gpu::on_device(more)};
    const auto got = amg::completed(there(part), names, amg::sent(loose), gpu::on_device(to));
    expect_elements(got.columns, order);
    EXPECT_EQ(got.a.shape, wanted.shape);
    entries all, far;
    for (index_t i = 0; i < own; ++i)
      for (index_t k = wanted.row_ptr[i]; k < wanted.row_ptr[i + 1]; ++k) {
        all.push_back({i, wanted.col[k], wanted.val[k]});
        if (wanted.col[k] >= own) far.push_back({i, wanted.col[k] - own, wanted.val[k]});
      }
    expect_same(entries_of(got.a), all);
    expect_same(entries_of(got.far), far);
  }
}

/// The whole matrix in the place of a rank's rows, of which the first half is this rank's.
TEST_F(gpu_border_rows, have_the_prolongation_of_the_host) {
  for (const char* spec : {"poisson3d:14", "anisotropic2d:40:0.01", "stencil3d27:10"}) {
    const auto whole = generate(spec).a;
    const index_t n = whole.shape.rows / 2;
    entries mine;
    for (index_t k = 0; k < whole.nnz(); ++k)
      if (whole.row[k] < n) mine.push_back({whole.row[k], whole.col[k], whole.val[k]});
    const auto a = to_rows(kit::assemble({n, whole.shape.cols}, mine));
    host_array<double> scale(whole.shape.rows), inverse(n);
    for (index_t k = 0; k < whole.nnz(); ++k)
      if (whole.row[k] == whole.col[k]) {
        scale[whole.row[k]] = 1 / std::sqrt(whole.val[k]);
        if (whole.row[k] < n) inverse[whole.row[k]] = 1 / whole.val[k];
      }
    amg::aggregates of{host_array<std::int32_t>(whole.shape.rows), 100};
    for (index_t i = 0; i < whole.shape.rows; ++i) of.of[i] = static_cast<std::int32_t>(i % 17 == 3 ? -1 : i / 9 % 100);
    const double theta = 0.08, omega = 0.6;
    const auto wanted = amg::smoothed_prolongation(
        {a.view(), 1}, amg::strong_couplings(a.view(), scale, theta, whole.shape.cols), of, inverse, omega);
    const auto got =
        amg::prolongation_of_part(view_of(amg::uploaded(a.view())), gpu_array<double>(scale), theta,
                                  {gpu_array<std::int32_t>(of.of), of.count}, gpu_array<double>(inverse), omega);
    EXPECT_EQ(got.shape, wanted.shape);
    const auto found = entries_of(got);
    ASSERT_EQ(index_t(found.size()), wanted.nnz()) << spec;
    for (std::size_t k = 0; k < found.size(); ++k) {
      ASSERT_EQ(found[k].col, wanted.col[index_t(k)]) << spec;
      ASSERT_NEAR(found[k].value, wanted.val[index_t(k)], 1e-14) << spec;
    }
    EXPECT_GE(got.row_ptr.capacity(), whole.shape.rows + 1) << "rows of others have room";
  }
}

/// The square of rows that have entries in columns beyond it.
TEST_F(gpu_border_rows, are_no_part_of_the_diagonals) {
  const auto a = kit::laplacian(30, 20);
  const index_t n = a.shape.rows, more = 40;
  entries wide;
  for (index_t k = 0; k < a.nnz(); ++k) wide.push_back({a.row[k], a.col[k], a.val[k]});
  for (index_t i = n - more; i < n; ++i)
    wide.push_back({i, n + (i - (n - more)), -7}), wide.push_back({i, n + (i + 1) % more, -5});
  const auto device = there(kit::assemble({n, n + more}, wide));
  auto square = view_of(device);
  square.shape = {n, n};
  const auto wanted = amg::by_diagonals<double>(there(a), 1), got = amg::by_diagonals<double>(square, a.nnz(), 1);
  ASSERT_EQ(wanted.offset.size(), 5);
  const host_array<std::int32_t> offsets(wanted.offset);
  const host_array<double> values(wanted.val);
  expect_elements(got.offset, {offsets.begin(), offsets.end()});
  expect_elements(got.val, {values.begin(), values.end()});
}

} // namespace
} // namespace furrow
