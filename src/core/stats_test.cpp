// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"
#include "look.hpp"
#include "measure.hpp"
#include "sample.hpp"

#include "kit/matrices.hpp"
#include "kit/said_by.hpp"

#include <furrow/device.hpp>
#include <furrow/generate.hpp>
#include <furrow/stats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace furrow {
namespace {

/// Bytes a place of all slices of 32 rows: a base of 4 bytes a slot, deltas in words of 4 bytes a row.
index_t places_by_brute_force(std::vector<index_t> length, index_t window) {
  index_t places = 0;
  for (auto at = length.begin(); at != length.end() && window > 1;) {
    const auto end = at + std::min<std::ptrdiff_t>(window, length.end() - at);
    std::sort(at, end, std::greater<>{});
    at = end;
  }
  for (std::size_t r = 0; r < length.size(); r += 32)
    places += 32 * *std::max_element(length.begin() + std::ptrdiff_t(r),
                                     length.begin() + std::ptrdiff_t(std::min(r + 32, length.size())));
  return places;
}

double column_bytes_by_brute_force(const coo<double>& a, index_t window) {
  std::vector<std::vector<index_t>> row(static_cast<std::size_t>(a.shape.rows));
  for (index_t k = 0; k < a.nnz(); ++k) row[static_cast<std::size_t>(a.row[k])].push_back(a.col[k]);
  for (index_t first = 0; first < a.shape.rows && window > 1; first += window)
    std::stable_sort(row.begin() + first, row.begin() + std::min(first + window, a.shape.rows),
                     [](const auto& r, const auto& s) { return r.size() > s.size(); });
  std::map<index_t, std::map<index_t, std::set<index_t>>> slices; // slice, slot, columns
  for (std::size_t p = 0; p < row.size(); ++p)
    for (std::size_t k = 0; k < row[p].size(); ++k) slices[index_t(p) / 32][index_t(k)].insert(row[p][k]);
  double bytes = 0, places = 0;
  for (const auto& slice : slices) {
    index_t largest = 0;
    for (const auto& slot : slice.second) largest = std::max(largest, *slot.second.rbegin() - *slot.second.begin());
    const double each = largest < 255 ? 1 : largest < 65535 ? 2 : 4, width = double(slice.second.size());
    bytes += 4 * width + 32 * 4 * std::ceil(width * each / 4);
    places += 32 * width;
  }
  return places > 0 ? bytes / places : 4;
}

/// All slices of 16 rows: diagonals with enough entries are strips of 16 places, a place beside them counts twice.
/// Strips and places beside them, of an entry.
std::array<double, 2> strips_by_brute_force(const coo<double>& a) {
  std::map<index_t, std::map<index_t, std::vector<index_t>>> slices; // slice, offset, entries
  for (index_t k = 0; k < a.nnz(); ++k) slices[a.row[k] / 16][index_t(a.col[k]) - a.row[k]].push_back(k);
  double all_strips = 0, places = 0;
  for (const auto& [slice, diagonals] : slices) {
    double fewest = HUGE_VAL, best_strips = 0, best_width = 0;
    std::map<index_t, index_t> there; // of each diagonal, entries that are not zero
    for (const auto& [offset, entries] : diagonals)
      there[offset] = std::ranges::count_if(entries, [&](index_t k) { return a.val[k] != 0; });
    for (const index_t least : {8, 4, 2, 1}) {
      double strips = 0;
      std::array<double, 16> beside{};
      for (const auto& [offset, entries] : diagonals) {
        const bool strip = there[offset] >= least;
        strips += strip;
        for (const index_t k : entries) beside[static_cast<std::size_t>(a.row[k] % 16)] += !strip || a.val[k] == 0;
      }
      const double width = *std::ranges::max_element(beside);
      if (strips + 2 * width >= fewest) continue;
      fewest = strips + 2 * width;
      best_strips = strips;
      best_width = width;
    }
    all_strips += best_strips;
    places += 16 * best_width;
  }
  const auto nnz = double(a.nnz());
  return a.nnz() ? std::array{all_strips / nnz, places / nnz} : std::array{0.0, 1.0};
}

/// The same, in the plainest way.
stats by_brute_force(const coo<double>& a) {
  stats s;
  s.shape = a.shape;
  s.nnz = a.nnz();
  std::vector<index_t> length(static_cast<std::size_t>(a.shape.rows));
  std::vector<double> sum(length.size());
  std::vector<char> diagonal(static_cast<std::size_t>(std::min(a.shape.rows, a.shape.cols)), 0);
  std::set<index_t> offsets;
  for (index_t k = 0; k < a.nnz(); ++k) {
    const index_t r = a.row[k], c = a.col[k];
    const double v = a.val[k];
    ++length[static_cast<std::size_t>(r)];
    sum[static_cast<std::size_t>(r)] += std::abs(v);
    offsets.insert(c - r);
    if (r == c && v != 0) diagonal[static_cast<std::size_t>(r)] = 1;
    s.lower_bandwidth = std::max(s.lower_bandwidth, r - c);
    s.upper_bandwidth = std::max(s.upper_bandwidth, c - r);
    s.explicit_zeros += v == 0;
    s.largest = std::max(s.largest, std::abs(v));
    s.finite = s.finite && std::isfinite(v);
  }
  s.diagonals = static_cast<index_t>(offsets.size());
  for (const char d : diagonal) s.zero_diagonal += !d;
  for (const double v : sum) s.norm_inf = std::max(s.norm_inf, v);
  double squares = 0;
  s.row_min = length.empty() ? 0 : std::numeric_limits<index_t>::max();
  for (const index_t l : length) {
    s.row_min = std::min(s.row_min, l);
    s.row_max = std::max(s.row_max, l);
    s.empty_rows += l == 0;
    ++s.row_histogram[std::bit_width(static_cast<std::uint64_t>(l))];
    squares += double(l * l);
  }
  if (a.shape.rows) {
    s.row_mean = double(a.nnz()) / double(a.shape.rows);
    s.row_deviation = std::sqrt(std::max(0.0, squares / double(a.shape.rows) - s.row_mean * s.row_mean));
  }
  for (int k = 2; k <= 8; ++k) {
    std::set<std::pair<index_t, index_t>> blocks;
    for (index_t e = 0; e < a.nnz(); ++e) blocks.insert({a.row[e] / k, a.col[e] / k});
    s.blocks[k] = static_cast<index_t>(blocks.size());
  }
  std::set<std::uint64_t> distinct;
  for (const double v : a.val) distinct.insert(std::bit_cast<std::uint64_t>(v));
  s.distinct_values = std::min<index_t>(static_cast<index_t>(distinct.size()), 257);
  std::vector<index_t> sorted = length;
  std::ranges::sort(sorted);
  for (index_t k = 0; k <= s.row_max && !sorted.empty(); ++k)
    s.rows_reaching.push_back(sorted.end() - std::ranges::lower_bound(sorted, k));
  format_estimate packed{"packed"}, hdia{"hdia"};
  for (std::size_t k = 0; k < sorting_windows.size(); ++k) {
    s.slice_places[k] = places_by_brute_force(length, sorting_windows[k]);
    packed.number[k] = column_bytes_by_brute_force(a, sorting_windows[k]);
  }
  std::ranges::copy(strips_by_brute_force(a), hdia.number.begin());
  s.estimates = {hdia, packed};
  return s;
}

void expect_same(const stats& got, const stats& expected) {
  EXPECT_EQ(got.shape, expected.shape);
  EXPECT_EQ(got.nnz, expected.nnz);
  EXPECT_EQ(got.row_min, expected.row_min);
  EXPECT_EQ(got.row_max, expected.row_max);
  EXPECT_DOUBLE_EQ(got.row_mean, expected.row_mean);
  EXPECT_NEAR(got.row_deviation, expected.row_deviation, 1e-9 * (1 + expected.row_deviation));
  EXPECT_EQ(got.empty_rows, expected.empty_rows);
  EXPECT_EQ(got.row_histogram, expected.row_histogram);
  EXPECT_EQ(got.lower_bandwidth, expected.lower_bandwidth);
  EXPECT_EQ(got.upper_bandwidth, expected.upper_bandwidth);
  EXPECT_EQ(got.diagonals, expected.diagonals);
  EXPECT_EQ(got.zero_diagonal, expected.zero_diagonal);
  EXPECT_EQ(got.explicit_zeros, expected.explicit_zeros);
  EXPECT_NEAR(got.norm_inf, expected.norm_inf, 1e-12 * expected.norm_inf); // another order of a sum
  EXPECT_EQ(got.largest, expected.largest);
  EXPECT_EQ(got.finite, expected.finite);
  for (int k = 2; k <= 8; ++k) {
    if (got.blocks[k] >= 0) {
      EXPECT_EQ(got.blocks[k], expected.blocks[k]) << k;
    } else if (got.blocks[k] == too_full) {
      EXPECT_GT(double(expected.blocks[k]) * k * k, most_fill * double(got.nnz)) << k;
    } else {
      const auto bytes = [&](int edge) { return double(expected.blocks[edge]) * (8 * edge * edge + 4); };
      double least = bytes(k);
      for (int edge = least_edge; edge <= most_edge; ++edge) least = std::min(least, bytes(edge));
      EXPECT_EQ(got.blocks[k], surpassed);
      EXPECT_GT(bytes(k), 1.2 * least) << k;
    }
  }
  EXPECT_EQ(got.distinct_values, expected.distinct_values);
  EXPECT_EQ(got.rows_reaching, expected.rows_reaching);
  const bool sorted = double(expected.slice_places[0]) > 1.03 * double(expected.nnz);
  for (std::size_t k = 0; k < sorting_windows.size(); ++k)
    EXPECT_EQ(got.slice_places[k], k == 0 || sorted ? expected.slice_places[k] : -1) << sorting_windows[k];
  const bool sampled = got.shape.rows > 16384 || got.nnz > sampled_entries;
  if (sampled && 10 * got.row_max > got.nnz) return; // a sample hits such a row, or it does not
  for (std::size_t k = 0; k < sorting_windows.size(); ++k) {
    const double bytes = (*estimate_of(expected, "packed"))[k == 0 || sorted ? k : 0];
    EXPECT_NEAR((*estimate_of(got, "packed"))[k], bytes, (sampled ? 0.06 : 1e-12) * bytes) << sorting_windows[k];
  }
  for (const std::size_t k : {0, 1}) { // strips, and places beside them
    const double number = (*estimate_of(expected, "hdia"))[k];
    EXPECT_NEAR((*estimate_of(got, "hdia"))[k], number, (sampled ? 0.15 : 1e-12) * (0.02 + number)) << k;
  }
}

TEST(stats, agree_with_brute_force_for_every_number_of_threads) {
  for (const auto& m : kit::whole_battery()) {
    SCOPED_TRACE(m.name);
    const auto expected = by_brute_force(m.a);
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      expect_same(measure(m.a), expected);
    }
  }
  set_threads(0);
}

TEST(stats, notice_what_is_not_finite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto a = kit::laplacian(10, 10);
    EXPECT_TRUE(measure(a).finite);
    a.val[77] = bad;
    EXPECT_FALSE(measure(a).finite);
  }
}

TEST(stats, tell_values_apart_by_their_bits_up_to_256_of_them) {
  const auto distinct = [](std::vector<double> values) {
    return measure(kit::diagonal(std::move(values))).distinct_values;
  };
  EXPECT_EQ(distinct({}), 0);
  EXPECT_EQ(distinct({3, 3, 3}), 1);
  EXPECT_EQ(distinct({0.0, -0.0}), 2);
  EXPECT_EQ(distinct({std::nan("1"), std::nan("2"), std::nan("1")}), 2);
  for (const int n : {255, 256, 257, 1000}) {
    std::vector<double> values;
    for (int k = 0; k < 3 * n; ++k) values.push_back(1 + (k % n) * 0x1p-40); // alike in their upper bits
    EXPECT_EQ(distinct(values), std::min(n, 257)) << n;
  }
}

TEST(stats, count_values_that_are_spread_over_pieces) {
  std::vector<double> values(200'000);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = double(k / 1000); // 200, no piece sees them all
  EXPECT_EQ(measure(kit::diagonal(values)).distinct_values, 200);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = double(k / 500); // 400: too many only together
  EXPECT_EQ(measure(kit::diagonal(values)).distinct_values, 257);
}

TEST(stats, sample_the_columns_of_large_matrices) {
  std::vector<double> values(100'000, 2.0); // 3125 slices, of which some are left out
  const auto s = measure(kit::diagonal(values));
  for (std::size_t k = 0; k < sorting_windows.size(); ++k)
    EXPECT_DOUBLE_EQ((*estimate_of(s, "packed"))[k], (4 + 32 * 4) / 32.0); // a base, and one word a row
}

TEST(stats, rows_in_a_pattern_are_no_surprise_and_random_ones_are) {
  EXPECT_LT(measure(generate("poisson2d:200").a).mispredicted_lengths, 0.05);
  EXPECT_GT(measure(generate("powerlaw:20000:8:2.3").a).mispredicted_lengths, 0.5);
  EXPECT_EQ(measure(generate("powerlaw:2000:8:2.3").a).mispredicted_lengths, 0); // learned by heart
}

TEST(stats, come_in_two_parts) {
  const auto a = generate("convection2d:30:5").a;
  stats s = measure_sums(a);
  const stats whole = measure(a);
  EXPECT_EQ(s.norm_inf, whole.norm_inf);
  EXPECT_EQ(s.diagonals, 5);
  EXPECT_EQ(s.rows_reaching, whole.rows_reaching);
  EXPECT_TRUE(s.finite);
  EXPECT_EQ(s.distinct_values, whole.distinct_values);
  EXPECT_TRUE(s.estimates.empty()); // nobody has looked
  EXPECT_EQ(s.blocks[2], 0);
  measure_for_formats(a, s);
  EXPECT_EQ(s.estimates.size(), whole.estimates.size());
  EXPECT_EQ(s.blocks, whole.blocks);
  EXPECT_EQ(s.slice_places, whole.slice_places);
}

TEST(stats, notice_a_stored_zero_on_the_diagonal) {
  EXPECT_EQ(measure(kit::diagonal({1, 0, 3})).zero_diagonal, 1);
  EXPECT_EQ(measure(kit::assemble({2, 3}, {{1, 1, 4}})).zero_diagonal, 1);
}

TEST(stats, count_full_blocks_of_every_size_and_give_up_on_scattered_entries) {
  for (int k = 2; k <= 8; ++k) {
    std::vector<kit::triplet> entries;
    for (index_t r = 0; r < 5 * k; ++r)
      for (index_t c = 0; c < k; ++c) entries.push_back({r, r / k * k + c, 1}); // a full block on the diagonal
    EXPECT_EQ(measure(kit::assemble({5 * k, 5 * k}, entries)).blocks[k], 5) << k;
  }
  const auto few = measure(kit::diagonal(std::vector<double>(100, 1.0)));
  const auto many = measure(kit::diagonal(std::vector<double>(100000, 1.0)));
  for (int k = 2; k <= 8; ++k) {
    EXPECT_EQ(few.blocks[k], (100 + k - 1) / k) << k;
    EXPECT_EQ(many.blocks[k], -1) << k;
  }
}

TEST(convert_values, to_single_precision_and_back) {
  const auto a = kit::laplacian(5);
  const auto narrow = convert_values<float>(coo<double>(a));
  ASSERT_EQ(narrow.nnz(), a.nnz());
  for (index_t k = 0; k < a.nnz(); ++k) {
    EXPECT_EQ(narrow.row[k], a.row[k]);
    EXPECT_EQ(narrow.col[k], a.col[k]);
    EXPECT_EQ(narrow.val[k], static_cast<float>(a.val[k]));
  }
  const auto wide = convert_values<double>(coo<float>(narrow));
  for (index_t k = 0; k < a.nnz(); ++k) EXPECT_EQ(wide.val[k], static_cast<double>(narrow.val[k]));
}

TEST(convert_values, takes_the_index_arrays) {
  auto a = kit::laplacian(5);
  const auto *const row = a.row.data(), *const col = a.col.data();
  const auto narrow = convert_values<float>(std::move(a));
  EXPECT_EQ(narrow.row.data(), row);
  EXPECT_EQ(narrow.col.data(), col);
}

TEST(convert_values, names_the_first_value_that_does_not_fit) {
  auto a = kit::diagonal({1, 2, -1e39, 4e39});
  kit::expect_refusal(fault::input, "(3, 3)", [&] { convert_values<float>(std::move(a)); });
}

TEST(convert_values, keeps_what_was_not_finite_before) {
  auto a = kit::diagonal({std::numeric_limits<double>::infinity(), std::nan("")});
  const auto narrow = convert_values<float>(std::move(a));
  EXPECT_TRUE(std::isinf(narrow.val[0]));
  EXPECT_TRUE(std::isnan(narrow.val[1]));
}

} // namespace
} // namespace furrow
