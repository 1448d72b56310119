// SPDX-License-Identifier: BSD-3-Clause
#include "operator.hpp"

#include "partition.hpp"

#include "core/symmetry.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "kit/row_error.hpp"

#include <furrow/generate.hpp>
#include <furrow/stats.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

/// Rows [first, last) with the columns of the whole matrix.
template <class V> coo<V> rows_between(const coo<V>& a, index_t first, index_t last) {
  std::vector<index_t> which;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] >= first && a.row[k] < last) which.push_back(k);
  const auto n = static_cast<index_t>(which.size());
  coo<V> part{{last - first, a.shape.cols}, host_array<std::int32_t>(n), host_array<std::int32_t>(n), host_array<V>(n)};
  for (index_t k = 0; k < n; ++k) {
    const index_t from = which[static_cast<std::size_t>(k)];
    part.row[k] = a.row[from] - static_cast<std::int32_t>(first), part.col[k] = a.col[from], part.val[k] = a.val[from];
  }
  return part;
}

template <class V> struct part_of_rank {
  index_t first, last;
  rows_of_rank<V> rows;
  double norm_1;
  rank_operator<V> a;

  part_of_rank(communicator& c, const coo<V>& whole, const std::vector<index_t>& begins)
      : first(begins[static_cast<std::size_t>(c.rank())]), last(begins[static_cast<std::size_t>(c.rank()) + 1]),
        rows(take_apart_rows(c, rows_between(whole, first, last))), norm_1(largest_column_sum(c, rows)),
        a(c, rows, stored(std::move(rows.own))) {}
  static std::unique_ptr<any_operator<V>> stored(coo<V> own) {
    if (own.shape.rows == 0) return nullptr;
    const choice how = choose(measure(own), precision_of<V>, device{}, {});
    return make(how, device{}, std::move(own));
  }
};

std::vector<kit::named_matrix> square_matrices() {
  auto all = kit::battery();
  std::erase_if(all, [](const kit::named_matrix& m) { return m.a.shape.rows != m.a.shape.cols; });
  all.push_back({"laplacian", kit::laplacian(9, 8, 7)});
  all.push_back({"blocks that do not touch", kit::diagonal(std::vector<double>(14, 3))});
  return all;
}

template <class V> class operator_on_ranks : public testing::Test {};
using values = testing::Types<double, float>;
TYPED_TEST_SUITE(operator_on_ranks, values);

/// The part of y that this rank has, 2 A x - 3 y, and the sum over all ranks of x . A x, against the whole matrix.
template <class V> void check_products(communicator& c, const coo<V>& a, const std::string& name) {
  const part_of_rank<V> mine(c, a, cut_by_entries(as_cview(a.row), a.shape.rows, c.size()));
  const host_array<V> x = kit::random_vector<V>(a.shape.cols, 3), y = kit::random_vector<V>(a.shape.rows, 4);
  const index_t n = mine.last - mine.first;
  const cview<V> my_x(x.data() + mine.first, n);
  host_array<V> z(n);
  std::copy_n(y.data() + mine.first, n, z.data());
  mine.a.apply(V(2), my_x, V(-3), as_view(z));
  const double unit = std::numeric_limits<V>::epsilon();
  std::vector<double> truth(static_cast<std::size_t>(a.shape.rows), 0), size = truth;
  for (index_t k = 0; k < a.nnz(); ++k) {
    truth[static_cast<std::size_t>(a.row[k])] += double(a.val[k]) * double(x[a.col[k]]);
    size[static_cast<std::size_t>(a.row[k])] += std::abs(double(a.val[k]) * double(x[a.col[k]]));
  }
  for (index_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(mine.first + i);
    const double old = 3 * double(y[mine.first + i]);
    ASSERT_NEAR(z[i], 2 * truth[row] - old, 40 * unit * (2 * size[row] + std::abs(old))) << name << ", row " << row;
  }
  double xy = -1, dot = 0, bound = 0;
  host_array<V> w(n, std::numeric_limits<V>::quiet_NaN());
  mine.a.apply_dot(my_x, as_view(w), {&xy});
  for (std::size_t i = 0; i < truth.size(); ++i) {
    dot += double(x[index_t(i)]) * truth[i];
    bound += std::abs(double(x[index_t(i)])) * size[i];
  }
  ASSERT_NEAR(xy, dot, 100 * unit * bound) << name;
  for (index_t i = 0; i < n; ++i)
    ASSERT_NEAR(w[i], truth[static_cast<std::size_t>(mine.first + i)],
                40 * unit * size[static_cast<std::size_t>(mine.first + i)]);
}

/// r = b - A x of all ranks, and |r|^2 and r . u over them: small beside b where x nearly solves the system.
template <class V> void check_residual(communicator& c, const coo<V>& a, const std::string& name) {
  const part_of_rank<V> mine(c, a, cut_by_entries(as_cview(a.row), a.shape.rows, c.size()));
  const auto x = kit::random_vector<V>(a.shape.cols, 3), u = kit::random_vector<V>(a.shape.rows, 5);
  std::vector<double> product(static_cast<std::size_t>(a.shape.rows), 0), size = product;
  for (index_t k = 0; k < a.nnz(); ++k) {
    product[static_cast<std::size_t>(a.row[k])] += double(a.val[k]) * double(x[a.col[k]]);
    size[static_cast<std::size_t>(a.row[k])] += std::abs(double(a.val[k]) * double(x[a.col[k]]));
  }
  const double unit = std::numeric_limits<V>::epsilon();
  host_array<V> b(a.shape.rows);
  for (index_t i = 0; i < b.size(); ++i) // off by a thousand roundings
    b[i] = static_cast<V>(product[static_cast<std::size_t>(i)] + 1000 * unit * (1 + size[static_cast<std::size_t>(i)]));
  const index_t n = mine.last - mine.first;
  host_array<V> r(n, std::numeric_limits<V>::quiet_NaN());
  double sums[] = {-1, -1}, gram[] = {-1, -1, -1, -1, -1};
  const cview<V> my_b(b.data() + mine.first, n), my_u(u.data() + mine.first, n), my_x(x.data() + mine.first, n);
  mine.a.apply_with(my_x, as_view(r), {my_b, {as_cview(r), {sums}}});
  mine.a.apply_with(my_x, as_view(r), {my_b, {my_u, {sums + 1}}});
  mine.a.apply_with(my_x, as_view(r), {my_b, {}, {my_b, my_u, {gram}}});
  for (index_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(mine.first + i);
    ASSERT_NEAR(r[i], double(b[mine.first + i]) - product[row], 40 * unit * (1 + size[row])) << name << ", row " << row;
  }
  double rr = 0, rb = 0, ru = 0, bb = 0, bu = 0, bound = 0,
         bound_of_b = 0; // of the r that there is: over all ranks, by themselves
  for (index_t i = 0; i < n; ++i) {
    rr += double(r[i]) * double(r[i]);
    ru += double(r[i]) * double(my_u[i]), rb += double(r[i]) * double(my_b[i]);
    bb += double(my_b[i]) * double(my_b[i]), bu += double(my_b[i]) * double(my_u[i]);
    bound_of_b += (std::abs(double(my_b[i])) + size[static_cast<std::size_t>(mine.first + i)]) * std::abs(my_b[i]);
    bound += (std::abs(double(b[mine.first + i])) + size[static_cast<std::size_t>(mine.first + i)]) *
             std::abs(double(u[mine.first + i]));
  }
  rr = c.sum(rr), ru = c.sum(ru), bound = c.sum(bound);
  rb = c.sum(rb), bb = c.sum(bb), bu = c.sum(bu), bound_of_b = c.sum(bound_of_b);
  ASSERT_NEAR(sums[0], rr, 1e-12 * rr) << name; // no digits lost to what cancels
  ASSERT_NEAR(sums[1], ru, 100 * unit * bound) << name;
  ASSERT_NEAR(gram[0], rr, 1e-12 * rr) << name;
  ASSERT_NEAR(gram[1], rb, 100 * unit * bound_of_b) << name;
  ASSERT_NEAR(gram[2], ru, 100 * unit * bound) << name;
  ASSERT_NEAR(gram[3], bb, 1e-12 * bb) << name;
  ASSERT_NEAR(gram[4], bu, 1e-12 * bound) << name;
}

TYPED_TEST(operator_on_ranks, takes_a_residual_and_sums_along) {
  for (const auto& [name, a] : square_matrices()) {
    const coo<TypeParam> whole = kit::as_precision<TypeParam>(a);
    for (const int ranks : kit::numbers_of_ranks)
      run_ranks(ranks, [&](communicator& c) { check_residual(c, whole, name); });
  }
}

TYPED_TEST(operator_on_ranks, multiplies_as_the_whole_matrix) {
  for (const auto& [name, a] : square_matrices()) {
    const coo<TypeParam> whole = kit::as_precision<TypeParam>(a);
    for (const int ranks : kit::numbers_of_ranks)
      run_ranks(ranks, [&](communicator& c) { check_products(c, whole, name); });
  }
}

TYPED_TEST(operator_on_ranks, knows_its_rows_and_the_elements_of_others) {
  const coo<TypeParam> a = kit::as_precision<TypeParam>(kit::laplacian(5, 4, 3));
  const host_array<TypeParam> x = kit::random_vector<TypeParam>(a.shape.cols, 3);
  for (const int ranks : kit::numbers_of_ranks)
    run_ranks(ranks, [&](communicator& c) {
      const part_of_rank<TypeParam> mine(c, a, cut_by_entries(as_cview(a.row), a.shape.rows, c.size()));
      const auto own = mine.a.to_triplets();
      const auto wide = mine.a.with_others({x.data() + mine.first, mine.last - mine.first});
      const auto expected = rows_between(a, mine.first, mine.last);
      ASSERT_TRUE(own.has_value());
      ASSERT_EQ(own->nnz(), expected.nnz());
      ASSERT_EQ(wide.size(), own->shape.cols);
      std::vector<double> sums(static_cast<std::size_t>(own->shape.rows), 0), truth = sums;
      for (index_t k = 0; k < own->nnz(); ++k) {
        sums[static_cast<std::size_t>(own->row[k])] += double(own->val[k]) * double(wide[own->col[k]]);
        truth[static_cast<std::size_t>(expected.row[k])] += double(expected.val[k]) * double(x[expected.col[k]]);
      }
      for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(sums[i], truth[i], 1e-12);
    });
}

TYPED_TEST(operator_on_ranks, takes_a_zero_factor_at_its_word) {
  const coo<TypeParam> a = kit::as_precision<TypeParam>(kit::laplacian(6, 5));
  run_ranks(3, [&](communicator& c) {
    const part_of_rank<TypeParam> mine(c, a, cut_by_entries(as_cview(a.row), a.shape.rows, c.size()));
    const index_t n = mine.last - mine.first;
    const auto nan = std::numeric_limits<TypeParam>::quiet_NaN();
    const host_array<TypeParam> x(n, nan), ones(n, TypeParam(1));
    host_array<TypeParam> y(n, TypeParam(4));
    mine.a.apply(0, as_cview(x), TypeParam(0.5), as_view(y));
    for (const TypeParam v : y) ASSERT_EQ(v, 2);
    std::fill(y.begin(), y.end(), nan);
    mine.a.apply(1, as_cview(ones), 0, as_view(y));
    for (const TypeParam v : y) ASSERT_TRUE(std::isfinite(v));
  });
}

TEST(rows_of_ranks, know_the_norms_of_the_whole_matrix) {
  for (const auto& [name, a] : square_matrices()) {
    std::vector<double> row(static_cast<std::size_t>(a.shape.rows), 0), column = row;
    for (index_t k = 0; k < a.nnz(); ++k) {
      row[static_cast<std::size_t>(a.row[k])] += std::abs(a.val[k]);
      column[static_cast<std::size_t>(a.col[k])] += std::abs(a.val[k]);
    }
    const auto largest = [](const std::vector<double>& v) { return v.empty() ? 0 : std::ranges::max(v); };
    for (const int ranks : kit::numbers_of_ranks)
      run_ranks(ranks, [&](communicator& c) {
        const part_of_rank<double> mine(c, a, cut_by_entries(as_cview(a.row), a.shape.rows, c.size()));
        EXPECT_DOUBLE_EQ(mine.rows.norm_inf, largest(row)) << name;
        EXPECT_NEAR(mine.norm_1, largest(column), 1e-14 * largest(column)) << name;
        EXPECT_EQ(mine.rows.unknowns, a.shape.rows) << name;
      });
  }
}

void check_apart(const coo<double>& a, int ranks) {
  run_ranks(ranks, [&](communicator& c) {
    const auto begins = cut_by_entries(as_cview(a.row), a.shape.rows, c.size());
    const part_of_rank<double> mine(c, a, begins);
    const auto given = rows_between(a, mine.first, mine.last);
    const auto told =
        with_global_columns(*mine.a.to_triplets(), mine.first, as_cview(mine.rows.plan.columns), mine.rows.unknowns);
    EXPECT_EQ(told.shape, given.shape);
    EXPECT_TRUE(std::ranges::equal(told.row, given.row));
    EXPECT_TRUE(std::ranges::equal(told.col, given.col));
    EXPECT_TRUE(std::ranges::equal(told.val, given.val));
    EXPECT_EQ(mine.rows.longest_row, measure(a).row_max);
  });
}

/// In several pieces, by one thread of a rank and by several.
TEST(rows_of_ranks, are_all_there_when_they_are_taken_apart) {
  const int before = threads();
  for (const char* spec : {"poisson2d:300", "random:30000:12", "convection2d:200:10"}) {
    const coo<double> a = generate(spec).a;
    for (const int count : {1, 6}) {
      set_threads(count);
      for (const int ranks : {1, 2, 3}) {
        SCOPED_TRACE(std::string(spec) + " on " + std::to_string(ranks) + " by " + std::to_string(count));
        check_apart(a, ranks);
      }
    }
  }
  set_threads(before);
}

TEST(rows_of_ranks, see_what_one_rank_sees_of_the_diagonal) {
  struct expected {
    coo<double> a;
    bool positive, full, finite;
  };
  auto negative = kit::laplacian(12), missing = kit::laplacian(12), strange = kit::laplacian(12);
  for (index_t k = 0; k < 34; ++k) {
    if (negative.row[k] == 7 && negative.col[k] == 7) negative.val[k] = -1;
    if (missing.row[k] == 9 && missing.col[k] == 9) missing.val[k] = 0;
    if (strange.row[k] == 8 && strange.col[k] == 7) strange.val[k] = std::numeric_limits<double>::infinity();
  }
  for (const auto& [a, positive, full, finite] :
       {expected{kit::laplacian(12), true, true, true}, expected{negative, false, true, true},
        expected{missing, false, false, true}, expected{strange, true, true, false}})
    for (const int ranks : kit::numbers_of_ranks)
      run_ranks(ranks, [&](communicator& c) {
        const auto begins = cut_by_entries(as_cview(a.row), a.shape.rows, c.size());
        const auto me = static_cast<std::size_t>(c.rank());
        const auto rows = take_apart_rows(c, rows_between(a, begins[me], begins[me + 1]));
        EXPECT_EQ(rows.positive_diagonal, positive);
        EXPECT_EQ(rows.full_diagonal, full);
        EXPECT_EQ(rows.finite, finite);
      });
}

TEST(rows_of_ranks, find_the_asymmetry_that_one_rank_finds) {
  auto all = square_matrices();
  auto broken = kit::laplacian(6, 5);
  broken.val[broken.nnz() - 2] += 1e-3;
  all.push_back({"one entry off", broken});
  all.push_back({"an entry without its mirror", kit::assemble({9, 9}, {{0, 0, 1}, {0, 8, 1}, {4, 4, 2}, {8, 8, 1}})});
  kit::splitmix random(5); // every rank has mirrors of all others
  std::vector<kit::triplet> pairs;
  for (index_t i = 0; i < 200; ++i) {
    pairs.push_back({i, i, 9});
    for (const index_t apart : {3, 41, 77, 150})
      if (const double v = random.value(); i >= apart)
        pairs.push_back({i, i - apart, v}), pairs.push_back({i - apart, i, v});
  }
  all.push_back({"far couplings", kit::assemble({200, 200}, pairs)});
  for (kit::triplet& e : pairs)
    if (e.row == 190 && e.col == 40) e.value += 1e-3;
  all.push_back({"a far coupling off", kit::assemble({200, 200}, pairs)});
  for (const auto& [name, a] : all) {
    bool symmetric = true;
    try {
      check_symmetry(a);
    } catch (const error&) {
      symmetric = false;
    }
    for (const int ranks : kit::numbers_of_ranks)
      run_ranks(ranks, [&](communicator& c) {
        const auto begins = cut_by_entries(as_cview(a.row), a.shape.rows, c.size());
        const auto part = [&](std::size_t r) { return begins[r]; };
        const auto me = static_cast<std::size_t>(c.rank());
        const auto rows = take_apart_rows(c, rows_between(a, part(me), part(me + 1)));
        EXPECT_EQ(asymmetry(c, rows).empty(), symmetric) << name << " on " << ranks;
      });
  }
}

TEST(rows_of_ranks, refuse_what_is_not_square_and_what_is_broken) {
  const auto a = kit::laplacian(6);
  const auto narrow = [&](communicator& c) { take_apart_rows(c, rows_between(a, 0, 2)); };
  EXPECT_EQ(kit::sentence_of_ranks(2, narrow),
            "rank 0 has rows of 6 columns, but the rows of all 2 ranks together are 4: ranks solve square systems");
  const auto beyond = [&](communicator& c) {
    auto mine = rows_between(a, 3 * c.rank(), 3 * c.rank() + 3);
    if (c.rank() == 1) mine.col[0] = 6;
    take_apart_rows(c, std::move(mine));
  };
  const std::string sentence = kit::sentence_of_ranks(2, beyond);
  EXPECT_TRUE(sentence.starts_with("rank 1: ")) << sentence;
}

} // namespace
} // namespace furrow
