// SPDX-License-Identifier: BSD-3-Clause
#include "entry_tile.hpp"

#include "diagonal_marks.hpp"
#include "measure.hpp"
#include "row_sum.hpp"

#include "kit/matrices.hpp"
#include "kit/said_by.hpp"

#include <furrow/coo.hpp>
#include <furrow/device.hpp>
#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace furrow {
namespace {

bool is_right(const coo<double>& a, index_t k) {
  const index_t r = a.row[k], c = a.col[k];
  if (r < 0 || c < 0 || r >= a.shape.rows || c >= a.shape.cols) return false;
  return k == 0 || r > a.row[k - 1] || (r == a.row[k - 1] && c > a.col[k - 1]);
}

TEST(entry_tile, finds_what_single_entries_tell) {
  const auto a = generate("powerlaw:500:7:2.2").a;
  for (const index_t begin : {0, 1, 15, 16, 17, 700})
    for (const index_t count : {0, 1, 7, 16, 31, 500, 512}) {
      SCOPED_TRACE(std::to_string(begin) + " " + std::to_string(count));
      entry_tile t;
      ASSERT_TRUE(look_at_places(a.shape, a.row.data() + begin, a.col.data() + begin, begin, count, t));
      std::vector<std::int32_t> starts, offsets;
      std::int32_t least = 0, most = 0;
      for (index_t k = begin; k < begin + count; ++k) {
        if (k == 0 || a.row[k] != a.row[k - 1]) starts.push_back(static_cast<std::int32_t>(k - begin));
        offsets.push_back(a.col[k] - a.row[k]);
        least = std::min(least, offsets.back());
        most = std::max(most, offsets.back());
      }
      EXPECT_EQ(std::vector(t.start.begin(), t.start.begin() + t.starts), starts);
      EXPECT_EQ(std::vector(t.offset.begin(), t.offset.begin() + count), offsets);
      EXPECT_EQ(t.least_offset, least);
      EXPECT_EQ(t.most_offset, most);
      EXPECT_EQ(t.on_diagonal, std::ranges::count(offsets, 0));
    }
}

TEST(entry_tile, sees_every_broken_promise) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(), most = -(least + 1);
  const auto whole = kit::laplacian(6, 5);
  for (index_t k = 0; k < whole.nnz(); ++k)
    for (const std::int32_t wrong : {least, -1, 0, 29, 30, most})
      for (const bool in_row : {true, false}) {
        auto a = whole;
        (in_row ? a.row : a.col)[k] = wrong;
        bool right = true;
        for (index_t e = 0; e < a.nnz(); ++e) right = right && is_right(a, e);
        entry_tile t;
        EXPECT_EQ(look_at_places(a.shape, a.row.data(), a.col.data(), 0, a.nnz(), t), right) << k << " " << wrong;
      }
}

TEST(entry_tile, adds_up_rows_with_the_bits_of_row_sums) {
  std::vector<kit::triplet> entries; // rows of 0 to 40 and of many entries, whose sums depend on the order
  index_t row = 0;
  for (const index_t length : {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 40, 0, 1023, 1024, 1025, 2500, 5})
    for (index_t c = (++row, 0); c < length; ++c)
      entries.push_back({row - 1, c, std::sin(double(c * row)) * std::exp2(double((c * 7 + row) % 50))});
  const auto a = kit::assemble({row, 2500}, entries);
  const stats s = measure_sums(a);
  double largest = 0;
  index_t k = 0;
  for (index_t r = 0; r < row; ++r) {
    row_sum sum;
    const index_t begin = k;
    for (; k < a.nnz() && a.row[k] == r; ++k) sum.add(std::abs(a.val[k]));
    largest = std::max(largest, sum.total());
    EXPECT_EQ(s.row_length[r], k - begin);
    coo<double> alone = kit::assemble({1, 2500}, {});
    alone.row = host_array<std::int32_t>(k - begin, 0);
    alone.col = host_array<std::int32_t>(k - begin);
    alone.val = host_array<double>(k - begin);
    std::copy(a.col.begin() + begin, a.col.begin() + k, alone.col.begin());
    std::copy(a.val.begin() + begin, a.val.begin() + k, alone.val.begin());
    EXPECT_EQ(measure_sums(alone).norm_inf, sum.total()) << r;
  }
  EXPECT_EQ(s.norm_inf, largest);
}

TEST(entry_tile, passes_over_values_that_are_no_numbers) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  value_sums sums;
  const std::vector<double> values{1, -0.0, -3, nan, 0, 2, nan, -2, 1, 0, -2.5};
  look_at_values(values.data(), std::ssize(values), sums);
  EXPECT_EQ(sums.largest, 3);
  EXPECT_EQ(sums.zeros, 3);
  EXPECT_FALSE(sums.finite);
  look_at_values(&infinity, 1, sums);
  EXPECT_EQ(sums.largest, infinity);
}

TEST(diagonal_marks, count_the_same_alone_and_together) {
  const auto of = [](const coo<double>& a) {
    std::set<index_t> offsets;
    for (index_t k = 0; k < a.nnz(); ++k) offsets.insert(index_t(a.col[k]) - a.row[k]);
    return std::ssize(offsets);
  };
  for (const auto* spec : {"powerlaw:3000:9:2.2", "random:20000:3", "poisson2d:300"}) { // small, and more than entries
    const auto a = generate(spec).a;
    for (const int count : {1, 2, 3, 64}) {
      set_threads(count);
      EXPECT_EQ(measure_sums(a).diagonals, of(a)) << spec << " " << count;
    }
  }
  set_threads(0);
}

TEST(check_and_measure_sums, says_what_check_triplets_says) {
  const auto whole = generate("poisson2d:300").a; // several pieces
  for (const index_t share : {0, 1, 5, 11, 12}) {
    const index_t k = (whole.nnz() - 2) * share / 12;
    for (int kind = 0; kind < 4; ++kind) {
      auto a = whole;
      if (kind == 0) std::swap(a.col[k], a.col[k + 1]), std::swap(a.row[k], a.row[k + 1]);
      else if (kind == 1) a.col[k] = -1;
      else if (kind == 2) a.row[k] = 90'000;
      else a.row[k + 1] = a.row[k], a.col[k + 1] = a.col[k];
      std::string wanted, said;
      try {
        check_triplets(a);
      } catch (const error& e) {
        wanted = e.what();
      }
      try {
        check_and_measure_sums(a);
      } catch (const error& e) {
        said = e.what();
      }
      EXPECT_FALSE(wanted.empty());
      EXPECT_EQ(said, wanted);
    }
  }
}

} // namespace
} // namespace furrow
