// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"
#include "cpu_packed.hpp"

#include "formats/sell/convert.hpp"
#include "formats/sell/cpu_slices.hpp"

#include "kit/guarded.hpp"
#include "kit/lane_check.hpp"
#include "kit/said_by.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <cmath>
#include <limits>

namespace furrow {

/// Lets the kit play lanes row by row.
template <class V> struct packed_by_rows {
  packed<V, cview> a;
  packed_values how;
  cview<std::int32_t> position;
};
template <class V>
V partial_at(lanes lane, packed_values how, const packed<V, cview>& a, index_t position, cview<V> x) {
  switch (how) {
  case packed_values::stored:
    return partial<2, packed_values::stored>(lane, a, position, x);
  case packed_values::numbered:
    return partial<2, packed_values::numbered>(lane, a, position, x);
  default:
    return partial<2, packed_values::one>(lane, a, position, x);
  }
}
template <class V> V partial(lanes lane, const packed_by_rows<V>& m, index_t row, cview<V> x) {
  return partial_at(lane, m.how, m.a, m.position[row], x);
}

namespace {

/// Entries of `a` with values from a list, in turn.
coo<double> with_values(coo<double> a, const std::vector<double>& values) {
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] = values[static_cast<std::size_t>(k * 7919) % values.size()];
  return a;
}

std::vector<double> many_values(int n) {
  std::vector<double> values;
  for (int k = 0; k < n; ++k) values.push_back(1 + k / 1024.0);
  return values;
}

/// Rows of which the columns lie `gap` apart, three entries each: slices of every width of deltas.
coo<double> spread(index_t rows, index_t gap) {
  std::vector<kit::triplet> entries;
  for (index_t r = 0; r < rows; ++r)
    for (index_t k = 0; k < 1 + (r + r / 32) % 3; ++k)
      entries.push_back({r, (r % 32) * gap + 2 * k, double(r + k + 1)});
  return kit::assemble({rows, 32 * gap + 10}, std::move(entries));
}

/// The battery, with values of all three kinds.
std::vector<kit::named_matrix> matrices_of_values() {
  std::vector<kit::named_matrix> all;
  for (auto& m : kit::battery()) {
    all.push_back({m.name + ", one value", with_values(m.a, {-1.25})});
    all.push_back({m.name + ", signed zeros", with_values(m.a, {0.0, -0.0, 2.0})});
    all.push_back({m.name + ", 256 values", with_values(m.a, many_values(256))});
    all.push_back({m.name + ", 257 values", with_values(m.a, many_values(257))});
    all.push_back(std::move(m));
  }
  for (const index_t gap : {5, 8, 9, 2000, 2113, 2115, 3000})
    all.push_back({"columns " + std::to_string(gap) + " apart", spread(300, gap)});
  for (auto& m : kit::large_battery()) all.push_back(std::move(m));
  return all;
}

template <class V> struct packed_of : testing::Test {};
using values = testing::Types<double, float>;
TYPED_TEST_SUITE(packed_of, values);

TYPED_TEST(packed_of, keeps_its_contract_and_comes_back_bit_by_bit) {
  for (const auto& m : matrices_of_values())
    for (const index_t window : {0, 1, 256}) {
      SCOPED_TRACE(m.name + ", window " + std::to_string(window));
      const auto a = kit::as_precision<TypeParam>(m.a);
      if (double(places_of(measure(m.a).row_length, {32, 1})) > 3e7) continue;
      const auto made = to_packed(a, window);
      EXPECT_EQ(violation(made), "");
      kit::expect_same(to_coo(made), a);
    }
}

TYPED_TEST(packed_of, adds_up_rows_with_every_number_of_lanes) {
  std::vector<kit::named_matrix> matrices = kit::battery();
  for (const index_t gap : {5, 2000, 3000}) matrices.push_back({"spread", spread(100, gap)});
  matrices.push_back({"numbered", with_values(kit::laplacian(12, 11, 3), {1.5, -0.25, 3})});
  matrices.push_back({"one value", with_values(kit::laplacian(12, 11, 3), {-0.75})});
  for (const auto& m : matrices) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    const auto made = to_packed(a, 64);
    host_array<std::int32_t> position(a.shape.rows);
    for (index_t p = 0; p < a.shape.rows; ++p) position[row_at(made, p)] = static_cast<std::int32_t>(p);
    kit::check_lanes(packed_by_rows<TypeParam>{view_of(made), values_of(made), as_cview(position)}, a);
  }
}

TYPED_TEST(packed_of, sums_have_the_bits_of_sell) {
  for (const auto& m : matrices_of_values()) {
    if (double(places_of(measure(m.a).row_length, {32, 1})) > 3e6) continue;
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    const auto small = to_packed(a, 128);
    const auto plain = to_sell(a, slicing{32, 128});
    ASSERT_TRUE(kit::same_bits(as_cview(small.row), as_cview(plain.row)));
    const auto small_view = view_of(small);
    const auto plain_view = view_of(plain);
    const auto x = kit::random_vector<TypeParam>(a.shape.cols, 9);
    for (index_t s = 0; s < small.slice.size(); ++s) {
      host_array<TypeParam> got(32), expected(32);
      packed_slices::unpacked::sums(small_view, s, as_cview(x), got.data());
      sell_slices::vectors::sums(plain_view, s, as_cview(x), expected.data());
      ASSERT_TRUE(kit::same_bits(as_cview(got), as_cview(expected))) << "slice " << s;
    }
    for (index_t p = 0; p < std::min<index_t>(a.shape.rows, 500); ++p) {
      const TypeParam got = partial_at(lanes{0, 1}, values_of(small), small_view, p, as_cview(x));
      ASSERT_EQ(got, partial<32>(lanes{0, 1}, plain_view, p, as_cview(x))) << "position " << p;
    }
  }
}

/// A value that is infinite, and infinities of x, beside padding: neither may get into a sum.
TYPED_TEST(packed_of, padding_reads_neither_x_nor_the_dictionary) {
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  auto a = kit::as_precision<TypeParam>(kit::assemble({40, 4}, {{0, 1, 1}, {0, 2, 2}, {1, 1, 1}, {39, 2, 1}}));
  host_array<TypeParam> x(4, infinity), out(32);
  x[1] = 2;
  x[2] = 3;
  for (const bool same : {true, false}) {
    std::fill(a.val.begin(), a.val.end(), infinity);
    if (!same) a.val[1] = -infinity;
    const auto made = to_packed(a, 1);
    const auto view = view_of(made);
    for (index_t s = 0; s < made.slice.size(); ++s) {
      packed_slices::unpacked::sums(view, s, as_cview(x), out.data());
      for (int i = 0; i < 32; ++i) EXPECT_EQ(std::isfinite(out[i]), s == 0 ? i > 1 : i != 7) << s << ": " << i;
    }
    for (index_t p = 2; p < 39; ++p) EXPECT_EQ(partial_at(lanes{0, 1}, values_of(made), view, p, as_cview(x)), 0);
  }
}

TEST(packed, values_are_numbered_or_left_out_where_that_pays) {
  const auto a = kit::laplacian(100, 10);
  EXPECT_EQ(values_of(to_packed(with_values(a, {3}), 1)), packed_values::one);
  EXPECT_EQ(values_of(to_packed(with_values(a, {0.0, -0.0}), 1)), packed_values::numbered);
  EXPECT_EQ(values_of(to_packed(with_values(a, many_values(256)), 1)), packed_values::numbered);
  EXPECT_EQ(values_of(to_packed(with_values(a, many_values(257)), 1)), packed_values::stored);
  EXPECT_EQ(values_of(to_packed(kit::diagonal(many_values(30)), 1)), packed_values::stored); // a longer dictionary
}

TEST(packed, deltas_take_as_many_bytes_as_they_need) {
  const auto bytes = [](index_t gap) {
    index_t most = 0;
    for (const auto& s : to_packed(spread(32, gap), 1).slice) most = std::max<index_t>(most, s.delta_bytes);
    return most;
  };
  EXPECT_EQ(bytes(8), 1); // 31 gaps: up to 248
  EXPECT_EQ(bytes(9), 2);
  EXPECT_EQ(bytes(2113), 2);
  EXPECT_EQ(bytes(2115), 4); // 65565
  for (const int n : {1, 2, 4}) EXPECT_EQ(delta_bytes_for(index_t(no_entry(n)) - 1), n);
  EXPECT_EQ(delta_bytes_for(no_entry(1)), 2); // that one is taken
  EXPECT_EQ(delta_bytes_for(no_entry(2)), 4);
}

TEST(packed, the_estimate_is_near_what_is_made) {
  for (const char* spec :
       {"poisson3d:30", "stencil3d27:20", "elasticity3d:12", "random:20000:16", "banded:20000:24:500"}) {
    const auto a = generate(spec).a;
    const auto s = measure(a);
    const double stated = find_format("packed").lay_out(s, precision::f64, {}).bytes;
    const double made = byte_count(to_packed(a, 0));
    EXPECT_NEAR(stated / made, 1, 0.05) << spec;
  }
}

TEST(packed, a_stencil_takes_a_fraction_of_csr) {
  const auto a = generate("stencil3d27:20").a;
  const double csr = find_format("csr").lay_out(measure(a), precision::f64, {}).bytes;
  EXPECT_LT(byte_count(to_packed(a, 0)), 0.35 * csr);
}

TEST(packed, windows_are_powers_of_two) {
  EXPECT_EQ(packed_format::read_parameters(""), 0);
  EXPECT_EQ(packed_format::read_parameters("1"), 1);
  EXPECT_EQ(packed_format::read_parameters("4096"), 4096);
  for (const char* wrong : {"0", "16", "48", "x", "64:1"}) {
    EXPECT_NE(kit::said_by(fault::usage, [&] { packed_format::read_parameters(wrong); }), "") << wrong;
  }
}

TEST(packed, every_broken_promise_is_found) {
  using matrix = packed<double, host_array>;
  std::vector<kit::triplet> entries{{3, 0, 5}};
  for (index_t r = 0; r < 64; ++r) {
    entries.push_back({r, 1, r % 2 ? 5.0 : 7.0});
    if (r < 32) entries.push_back({r, 2 + r, 7});
  }
  const auto a = kit::assemble({64, 40}, entries);
  const matrix good = to_packed(a, 64);
  ASSERT_EQ(violation(good), "");
  ASSERT_EQ(values_of(good), packed_values::numbered);
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& m) { m.shape.rows = 65; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice[1].slot = 0; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice[1].word += 1; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice[0].width = -1; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice[0].width = 1 << 30; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice[1].delta_bytes = 3; }), "");
  EXPECT_NE(broken([](matrix& m) { m.base.resize(1); }), "");
  EXPECT_NE(broken([](matrix& m) { m.word.resize(32); }), "");
  EXPECT_NE(broken([](matrix& m) { m.val.extend(1); }), "");
  EXPECT_NE(broken([](matrix& m) { std::swap(m.dictionary[0], m.dictionary[1]); }), "");
  EXPECT_NE(broken([](matrix& m) { m.row[0] = m.row[1]; }), "");
  EXPECT_NE(broken([](matrix& m) { m.base[0] = 40; }), "");
  EXPECT_NE(broken([](matrix& m) { m.base[0] = -1; }), "");
  EXPECT_NE(broken([](matrix& m) { m.base[1] = 0; }), "");
  EXPECT_NE(broken([](matrix& m) { m.word[0] |= 0xff; }), "");           // an entry behind padding
  EXPECT_NE(broken([](matrix& m) { m.word[0] &= 0x00ffffff; }), "");     // an entry behind the last slot
  EXPECT_NE(broken([](matrix& m) { m.word[32] |= 2; }), "");             // a number without a value
  EXPECT_NE(broken([](matrix& m) { m.word[32 + 31] |= 1u << 24; }), ""); // padding with a number
}

TEST(packed, the_same_for_every_number_of_threads) {
  const auto m = kit::large_battery().front();
  set_threads(1);
  const auto one = to_packed(m.a, 1024);
  set_threads(3);
  const auto three = to_packed(m.a, 1024);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one.base), as_cview(three.base)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.word), as_cview(three.word)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.dictionary), as_cview(three.dictionary)));
}

} // namespace
} // namespace furrow
