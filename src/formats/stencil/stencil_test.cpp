// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"
#include "cpu_rest.hpp"
#include "cpu_rows.hpp"
#include "planes.hpp"

#include "backends/cpu/isa.hpp"
#include "kit/cut_check.hpp"
#include "kit/lane_check.hpp"
#include "kit/tile_check.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace furrow {

/// Lets the kit play the tiles of the GPU kernel: each row by the stencil of the tile's first thread where it has it,
/// by its own otherwise, as a warp does it.
template <class V, class N> struct stencil_by_tiles { stencil<V, N, cview> a; };
template <class V, class N, int R>
void tile_sums(const stencil_by_tiles<V, N>& m, row_tile tile, index_t row, cview<V> x, V (&sum)[R]) {
  const stencil_table<V> t{m.a.start.data, m.a.offset.data, m.a.val.data};
  const int stencils = stencils_of(m.a);
  const auto number = [&](index_t r) { return r < m.a.shape.rows ? int(m.a.number[r]) : stencils; };
  const int common = number(row);
  const bool together = common < stencils && stays_inside(t, common, tile.first, tile.rows, m.a.shape.cols);
  if (together) add_stencil<4>(t, common, x.data + row, tile.apart, sum);
  for (int r = 0; r < R; ++r) {
    const index_t i = row + r * tile.apart;
    if (i >= m.a.shape.rows || (together && number(i) == common)) continue;
    V own[1]{};
    if (number(i) < stencils) add_stencil<8>(t, number(i), x.data + i, tile.apart, own);
    else own[0] = partial(lanes{}, m.a, i, x);
    sum[r] = own[0];
  }
}

namespace {

/// `rows` rows, of which row r has the stencil r % count: that many entries, but at most nine.
coo<double> patterned(index_t rows, index_t count, shape2 more = {0, 0}) {
  std::vector<kit::triplet> entries;
  for (index_t r = 0; r < rows; ++r)
    for (index_t k = 0; k <= (r % count) % 9; ++k) entries.push_back({r, r + 2 * k, 1 + double(r % count) / 1024});
  return kit::assemble({rows + more.rows, rows + 20 + more.cols}, std::move(entries));
}

/// Every seventh row has an entry that no other row has.
coo<double> with_rows_of_their_own(coo<double> a) {
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] % 7 == 3 && (k == 0 || a.row[k - 1] != a.row[k])) a.val[k] = 1 + double(a.row[k]) / 4096;
  return a;
}

std::vector<kit::named_matrix> matrices_of_stencils() {
  auto all = kit::battery();
  for (const index_t count : {1, 2, 3, 9, 40, 254, 255, 256, 257, 300, 700, 2000})
    all.push_back({std::to_string(count) + " stencils", patterned(6000, count)});
  all.push_back({"rows of their own", with_rows_of_their_own(kit::laplacian(60, 50, 4))});
  all.push_back({"words and rows of their own", with_rows_of_their_own(patterned(6000, 300))});
  all.push_back({"rows at the end without entries", patterned(500, 4, {70, 0})});
  for (const char* spec : {"elasticity3d:7", "disc2d:60", "ball3d:15", "varying3d:16:3", "varying3d:16:9"})
    all.push_back({spec, generate(spec).a});
  for (auto& m : kit::large_battery()) all.push_back(std::move(m));
  return all;
}

/// f(the matrix in this format), with numbers of bytes or of words as the format chooses.
template <class V, class F> void with_stencils(const coo<V>& a, F&& f) {
  const auto plan = plan_stencils(a);
  if (plan.fits_bytes()) f(to_stencil<std::uint8_t>(a, plan));
  else f(to_stencil<std::uint16_t>(a, plan));
}

template <class V> struct stencil_of : testing::Test {};
using values = testing::Types<double, float>;
TYPED_TEST_SUITE(stencil_of, values);

TYPED_TEST(stencil_of, keeps_its_contract_and_comes_back_bit_by_bit) {
  for (const auto& m : matrices_of_stencils()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    with_stencils(a, [&](const auto& made) {
      EXPECT_EQ(violation(made), "");
      kit::expect_same(to_coo(made), a);
    });
  }
}

TYPED_TEST(stencil_of, adds_up_rows_with_every_number_of_lanes) {
  auto matrices = kit::battery();
  matrices.push_back({"rows of their own", with_rows_of_their_own(kit::laplacian(12, 11, 3))});
  matrices.push_back({"300 stencils", patterned(700, 300)});
  for (const auto& m : matrices) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    with_stencils(a, [&](const auto& made) { kit::check_lanes(view_of(made), a); });
  }
}

TYPED_TEST(stencil_of, adds_up_tiles_of_every_size) {
  for (const auto& m : matrices_of_stencils()) {
    if (m.a.nnz() > 20'000) continue;
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    with_stencils(a, [&](const auto& made) { kit::check_tiles(stencil_by_tiles{view_of(made)}, a); });
  }
}

TYPED_TEST(stencil_of, lends_numbers_to_rows_beside_the_table_where_their_stencils_stay_inside) {
  using V = TypeParam;
  auto matrices = matrices_of_stencils();
  matrices.push_back({"the last columns", with_rows_of_their_own(patterned(6000, 3))});
  bool some_lent = false, some_left = false;
  for (const auto& m : matrices) {
    SCOPED_TRACE(m.name);
    with_stencils(kit::as_precision<V>(m.a), [&](const auto& made) {
      const auto a = view_of(made);
      const int none = stencils_of(a);
      using N = std::decay_t<decltype(made.number[0])>;
      for (index_t first = 0; first < a.shape.rows; first += 300) {
        const index_t last = std::min(first + 300, a.shape.rows);
        std::vector<N> number(static_cast<std::size_t>(last - first));
        lend_numbers(a, first, last, position_beside(a, first), position_beside(a, last), number.data());
        for (index_t row = first; row < last; ++row) {
          const int lent = number[row - first];
          if (a.number[row] != none) {
            ASSERT_EQ(lent, a.number[row]);
          } else if (lent == none) {
            some_left = true;
          } else {
            some_lent = true;
            ASSERT_EQ(lent, number[row - first - 1]);
            for (std::int32_t k = a.start[lent]; k < a.start[lent + 1]; ++k) {
              ASSERT_GE(row + a.offset[k], 0);
              ASSERT_LT(row + a.offset[k], a.shape.cols);
            }
          }
        }
      }
    });
  }
  EXPECT_TRUE(some_lent);
  EXPECT_TRUE(some_left);
}

TYPED_TEST(stencil_of, rows_with_a_lent_number_show_nothing_of_what_it_made_of_them) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("varying3d:20:4").a);
  with_stencils(a, [&](const auto& made) {
    ASSERT_GT(made.rest_row.size(), 1000);
    // A column that one row beside the table has no entry in, and the stencil before it has.
    for (index_t k = 0; k < made.rest_row.size(); k += 37) {
      const index_t row = made.rest_row[k];
      host_array<V> x(a.shape.cols, V(1)), y(a.shape.rows);
      for (index_t i = 0; i < a.shape.cols; ++i) x[i] = std::numeric_limits<V>::infinity();
      for (index_t e = made.rest.row_ptr[k]; e < made.rest.row_ptr[k + 1]; ++e) x[made.rest.col[e]] = 1;
      stencil_runs::sums(view_of(made), 0, a.shape.rows, as_cview(x), y.data());
      EXPECT_TRUE(std::isfinite(y[row])) << row;
    }
  });
}

TYPED_TEST(stencil_of, rows_may_be_cut_anywhere) {
  using V = TypeParam;
  for (const auto& m : matrices_of_stencils()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    const auto x = kit::random_vector<V>(a.shape.cols, 11);
    with_stencils(a, [&](const auto& made) {
      const auto view = view_of(made);
      kit::check_cuts<V>(a.shape.rows, [&](index_t first, index_t last, V* out) {
        stencil_runs::sums(view, first, last, as_cview(x), out);
      });
    });
  }
}

/// Runs of 1, 2, 3, ... rows of a stencil, one after the other; a stencil has `entries` entries whose distances leave
/// gaps, and values of its own.
coo<double> runs_of_rows(index_t entries) {
  std::vector<kit::triplet> all;
  index_t row = 0;
  for (index_t run = 1; run <= 70; ++run)
    for (index_t i = 0; i < run; ++i, ++row)
      for (index_t k = 0; k < entries; ++k) all.push_back({row, row + 3 * k, 1 / double(1 + k + run % 5)});
  return kit::assemble({row, row + 3 * entries}, std::move(all));
}

/// Bit by bit: ascending entries into one sum, each product and sum rounded once where the instruction set can.
TYPED_TEST(stencil_of, runs_of_every_length_have_the_sums_of_rows_one_by_one) {
  using V = TypeParam;
#if defined(__FP_FAST_FMA)
  constexpr bool always = true;
#else
  constexpr bool always = false;
#endif
  const bool once = always || cpu::machine_isa() != cpu::isa::baseline;
  for (index_t entries = 0; entries <= 27; ++entries) {
    SCOPED_TRACE(entries);
    const auto a = kit::as_precision<V>(runs_of_rows(entries));
    const auto x = kit::random_vector<V>(a.shape.cols, 5);
    host_array<V> expected(a.shape.rows, V(0)), got(a.shape.rows, V(7));
    for (index_t k = 0; k < a.nnz(); ++k) {
      V& sum = expected[a.row[k]];
      const volatile V product = a.val[k] * x[a.col[k]]; // volatile: rounded
      sum = once ? std::fma(a.val[k], x[a.col[k]], sum) : sum + product;
    }
    with_stencils(
        a, [&](const auto& made) { stencil_runs::sums(view_of(made), 0, a.shape.rows, as_cview(x), got.data()); });
    EXPECT_TRUE(kit::same_bits(as_cview(expected), as_cview(got)));
  }
}

TYPED_TEST(stencil_of, multiplies_several_vectors_at_once) {
  using V = TypeParam;
  for (const auto& a : {with_rows_of_their_own(kit::laplacian(40, 30)), patterned(900, 300), generate("disc2d:40").a,
                        generate("varying3d:12:3").a}) {
    const auto op = find_format("stencil").cpu.make<V>()(kit::as_precision<V>(a), {}, "auto");
    ASSERT_TRUE(op->multiplies_blocks());
    for (const index_t count : {2, 3, 8}) {
      const auto x = kit::random_vector<V>(a.shape.cols * count, 12);
      host_array<V> y(a.shape.rows * count);
      op->apply_block(as_cview(x), as_view(y), count);
      for (index_t k = 0; k < count; ++k) {
        host_array<V> one(a.shape.cols), of_one(a.shape.rows);
        for (index_t i = 0; i < a.shape.cols; ++i) one[i] = x[i * count + k];
        for (index_t i = 0; i < a.shape.rows; ++i) of_one[i] = y[i * count + k];
        const auto expected = kit::reference_product(kit::as_precision<V>(a), V(1), as_cview(one), V(0), {});
        EXPECT_LE(kit::row_error(expected, as_cview(of_one)), 1) << count << " vectors";
      }
    }
  }
}

template <class V> std::optional<stencil_planes<V>> planes_in(const coo<double>& matrix, index_t least = 3) {
  const auto a = kit::as_precision<V>(matrix);
  const auto plan = plan_stencils(a);
  const auto made = to_stencil<std::uint16_t>(a, plan);
  std::vector<index_t> uses;
  for (const auto& s : plan.table) uses.push_back(s.uses);
  return find_planes(host_stencil_table<V>{made.start, made.offset, made.val}, uses, a.shape.rows, least);
}

TYPED_TEST(stencil_of, grids_lie_in_planes) {
  using V = TypeParam;
  struct expected {
    const char* spec;
    int plane, line, lines;
    bool cross;
  };
  for (const auto& e :
       {expected{"poisson3d:12", 144, 12, 3, true}, expected{"stencil3d27:9", 81, 9, 3, false},
        expected{"poisson2d:40", 40, 40, 1, true}, expected{"stencil2d9:30", 30, 30, 1, false},
        expected{"convection2d:50:20", 50, 50, 1, true}, expected{"anisotropic2d:50:0.01", 50, 50, 1, true}}) {
    SCOPED_TRACE(e.spec);
    const auto p = planes_in<V>(generate(e.spec).a);
    ASSERT_TRUE(p);
    EXPECT_EQ(p->plane, e.plane);
    EXPECT_EQ(p->line, e.line);
    EXPECT_EQ(p->lines, e.lines);
    EXPECT_EQ(p->cross, e.cross);
    EXPECT_TRUE(p->all_told);
    EXPECT_FALSE(planes_in<V>(generate(e.spec).a, e.plane + 1));
  }
  EXPECT_TRUE(planes_in<V>(kit::laplacian(11, 9, 7)));
}

TYPED_TEST(stencil_of, other_matrices_do_not) {
  using V = TypeParam;
  for (const char* spec : {"poisson1d:300", "elasticity3d:7", "random:300:9", "disc2d:30", "banded:300:5:40"})
    EXPECT_FALSE(planes_in<V>(generate(spec).a)) << spec;
  EXPECT_FALSE(planes_in<V>(patterned(900, 300)));
  EXPECT_FALSE(planes_in<V>(coo<double>{{5, 5}, {}, {}, {}}));
  auto infinite = kit::laplacian(12, 12, 12);
  std::replace(infinite.val.begin(), infinite.val.end(), -1.0, -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(planes_in<V>(infinite));
}

TYPED_TEST(stencil_of, bits_tell_which_entries_of_the_first_stencil_a_row_has) {
  using planes = stencil_planes<TypeParam>;
  const auto p = planes_in<TypeParam>(kit::laplacian(10, 9, 40));
  ASSERT_TRUE(p);
  constexpr std::uint32_t centre = 1u << 4, cross = 0b010111010;
  EXPECT_EQ(p->mask[0], planes::is_told | centre | cross << 9 | centre << 18);
  EXPECT_EQ(p->minus & cross, cross & ~centre);
  EXPECT_EQ(p->same & cross, cross & ~centre); // the diagonal has another sign than the entries before and behind it
  const auto stencils = std::count_if(std::begin(p->mask), std::end(p->mask),
                                      [](std::uint32_t mask) { return (mask & planes::is_told) != 0; });
  EXPECT_EQ(stencils, 27);
  EXPECT_EQ(p->mask[27], planes::every_place);
  const auto own = planes_in<TypeParam>(with_rows_of_their_own(kit::laplacian(20, 20, 20)));
  EXPECT_FALSE(own && own->all_told);
}

/// The stencils of rows that hold one value each.
template <class V> index_t stencils_of_values(const std::vector<V>& values) {
  const auto rows = static_cast<index_t>(values.size());
  coo<V> a{{rows, rows}, host_array<std::int32_t>(rows), host_array<std::int32_t>(rows), host_array<V>(rows)};
  for (index_t k = 0; k < rows; ++k) {
    a.row[k] = a.col[k] = static_cast<std::int32_t>(k);
    a.val[k] = values[static_cast<std::size_t>(k)];
  }
  const auto plan = plan_stencils(a);
  kit::expect_same(to_coo(to_stencil<std::uint8_t>(a, plan)), a);
  return static_cast<index_t>(plan.table.size());
}

TYPED_TEST(stencil_of, values_are_told_apart_by_their_bits) {
  using V = TypeParam;
  using bits = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
  const V one = 1, nan = std::numeric_limits<V>::quiet_NaN();
  const V other_nan = std::bit_cast<V>(bits(std::bit_cast<bits>(nan) | 1));
  EXPECT_EQ(stencils_of_values<V>({one, one, one}), 1);
  EXPECT_EQ(stencils_of_values<V>({one, std::nextafter(one, V(2)), one}), 2);
  EXPECT_EQ(stencils_of_values<V>({V(0), -V(0), V(0)}), 2);
  EXPECT_EQ(stencils_of_values<V>({nan, other_nan, nan, nan}), 2);
  EXPECT_EQ(stencils_of_values<V>({one, -one}), 2);
}

TEST(stencil, numbers_go_by_frequency_and_then_by_the_first_row) {
  // Rows by their values: b a a c b a d: a has 3, b 2, and of c and d, with one each, c comes first.
  const auto a = kit::diagonal({2, 1, 1, 3, 2, 1, 4});
  const auto made = to_stencil<std::uint16_t>(a, plan_stencils(a));
  EXPECT_EQ(std::vector<std::uint16_t>(made.number.begin(), made.number.end()),
            (std::vector<std::uint16_t>{1, 0, 0, 2, 1, 0, 3}));
}

TEST(stencil, numbers_take_a_byte_up_to_255_stencils_and_a_word_where_it_pays) {
  const auto plan_of = [](index_t count) { return plan_stencils(patterned(20 * count, count)); };
  EXPECT_TRUE(plan_of(255).fits_bytes());
  EXPECT_EQ(plan_of(255).rows_before.back(), 0);
  EXPECT_EQ(plan_of(256).table.size(),
            255); // the last one has 20 rows of 4 entries, and a word more a row is 5120 bytes
  EXPECT_EQ(plan_of(256).rows_before.back(), 20);
  EXPECT_FALSE(plan_of(600).fits_bytes());
  EXPECT_EQ(plan_of(600).rows_before.back(), 0);
}

TEST(stencil, the_table_ends_where_a_block_of_a_gpu_has_no_more_room) {
  const auto plan = plan_stencils(patterned(20'000, 2000)); // 2000 stencils with some 10'000 entries
  index_t places = 0;
  for (const auto& s : plan.table) places += s.first.count + 1;
  EXPECT_LE(places, most_stencil_places);
  EXPECT_GT(places, most_stencil_places - 10);
  EXPECT_GT(plan.rows_before.back(), 0);
  // Stencils of one row are in a small table alone.
  EXPECT_EQ(plan_stencils(patterned(60, 60)).rows_before.back(), 0);
  EXPECT_GT(plan_stencils(patterned(600, 600)).rows_before.back(), 300);
}

TEST(stencil, does_not_depend_on_the_number_of_threads) {
  const auto a = with_rows_of_their_own(kit::laplacian(400, 300));
  set_threads(1);
  const auto one = to_stencil<std::uint8_t>(a, plan_stencils(a));
  set_threads(3);
  const auto three = to_stencil<std::uint8_t>(a, plan_stencils(a));
  const auto back = to_coo(three);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one.number), as_cview(three.number)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.offset), as_cview(three.offset)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.val), as_cview(three.val)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.rest_row), as_cview(three.rest_row)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.rest.val), as_cview(three.rest.val)));
  kit::expect_same(back, a);
}

TEST(stencil, the_estimate_is_near_what_is_made) {
  for (const char* spec : {"poisson3d:60", "poisson2d:400", "stencil3d27:40", "elasticity3d:20", "disc2d:300",
                           "ball3d:60", "varying3d:60:0.5", "varying3d:60:4"}) {
    SCOPED_TRACE(spec);
    const auto a = generate(spec).a;
    const auto s = measure(a);
    const layout stated = find_format("stencil").lay_out(s, precision::f64, {});
    EXPECT_EQ(stated.refusal, "");
    with_stencils(a, [&](const auto& made) { EXPECT_NEAR(stated.bytes / byte_count(made), 1, 0.15); });
  }
}

TEST(stencil, the_sample_finds_all_of_small_matrices) {
  for (const auto& m : matrices_of_stencils()) {
    if (m.a.shape.rows > stencils_counted || m.a.nnz() > sampled_runs::most_entries) continue;
    SCOPED_TRACE(m.name);
    const row_stencils found = row_stencils_of(measure(m.a));
    if (found.stencils == 0) continue; // hardly any rows are alike
    const auto plan = plan_stencils(m.a);
    EXPECT_EQ(found.stencils, plan.table.size());
    EXPECT_NEAR(found.rows_beside * double(m.a.shape.rows), double(plan.rows_before.back()), 1e-6);
  }
}

/// A line of a grid has three changes: in from one edge, out to the other, and on to the next line.
TEST(stencil, the_sample_counts_where_stencils_change) {
  const auto changes = [](const char* spec) { return row_stencils_of(measure(generate(spec).a)).changes; };
  EXPECT_NEAR(changes("poisson1d:1000"), 2.0 / 999, 1e-6);
  EXPECT_NEAR(changes("poisson2d:20"), 3.0 / 20, 0.01);
  EXPECT_NEAR(changes("poisson2d:50"), 3.0 / 50, 0.01); // between one row and all rows of a part are looked at
  EXPECT_NEAR(changes("poisson2d:300"), 3.0 / 300, 0.01);
  EXPECT_NEAR(changes("stencil3d27:40"), 3.0 / 40, 0.02); // four rows of a part
  EXPECT_EQ(changes("elasticity3d:8"), 1);
}

TEST(stencil, refuses_rows_that_are_not_alike) {
  const format_entry& f = find_format("stencil");
  const auto refusal = [&](const coo<double>& a, const char* parameters) {
    return f.lay_out(measure(a), precision::f64, parameters).refusal;
  };
  const auto random = generate("random:4000:6").a;
  EXPECT_NE(refusal(random, "").find("0 % of the rows alike"), std::string::npos) << refusal(random, "");
  EXPECT_EQ(refusal(random, "0"), "");
  const auto partly = with_rows_of_their_own(kit::laplacian(60, 50, 4)); // six of seven rows, less the edges
  EXPECT_EQ(refusal(partly, ""), "");
  EXPECT_NE(refusal(partly, "90"), "");
  EXPECT_THROW(refusal(partly, "101"), error);
  EXPECT_THROW(refusal(partly, "x"), error);
}

TEST(stencil, is_refused_by_the_bytes_beside_its_table_and_not_by_the_rows) {
  const format_entry& f = find_format("stencil");
  const auto refusal = [&](std::vector<kit::triplet> entries, const char* parameters) {
    const auto a = kit::assemble({6000, 6100}, std::move(entries));
    return f.lay_out(measure(a), precision::f64, parameters).refusal;
  };
  std::vector<kit::triplet> empty_ones, long_ones;
  for (index_t r = 0; r < 6000; ++r) {
    const bool one_of_three = (r * 40503 >> 4) % 3 == 0; // at no regular distance: few rows are looked at first
    if (one_of_three) {
      for (index_t k = 0; k < 5; ++k) empty_ones.push_back({r, r + 20 * k, 1 + double(r) / 7});
      for (index_t k = 0; k < 20; ++k) long_ones.push_back({r, r + k, 2}); // alike
    } else {
      for (index_t k = 0; k < 2; ++k) long_ones.push_back({r, r + k, 1 + double(r) / 7});
    }
  }
  const std::string why = refusal(empty_ones, "");
  EXPECT_NE(why.find("% of the bytes of csr beside its table, and takes up to 50 %: choose another format"),
            std::string::npos)
      << why;
  EXPECT_EQ(refusal(empty_ones, "60"), ""); // two of three rows are empty, and so alike
  EXPECT_EQ(refusal(long_ones, ""), "");
  EXPECT_NE(refusal(long_ones, "50").find("asks for 50 %"), std::string::npos);
}

TEST(stencil, is_chosen_where_a_part_beside_its_table_still_pays) {
  const auto chosen = [&](const char* spec) {
    return std::string(choose(measure(generate(spec).a), precision::f64, device{}, {}).format->name);
  };
  for (const bool by_intel : {true, false}) {
    SCOPED_TRACE(by_intel);
    const cpu::pretend_intel costs_of_that_maker(by_intel);
    EXPECT_EQ(chosen("ball3d:70"), "stencil");
    const std::string few_beside = chosen("varying3d:70:0.5");
    EXPECT_TRUE(few_beside == "stencil" || (!by_intel && few_beside == "dia")) << few_beside; // a tie on Zen 4
    EXPECT_NE(chosen("varying3d:70:9"), "stencil"); // half of the rows lie beside
  }
}

TEST(stencil, other_values_have_no_places) {
  auto made = to_stencil<std::uint8_t>(kit::laplacian(9), plan_stencils(kit::laplacian(9)));
  EXPECT_TRUE(value_arrays(made).empty());
}

TEST(stencil, every_broken_promise_is_found) {
  using matrix = stencil<double, std::uint8_t, host_array>;
  const auto a = with_rows_of_their_own(kit::laplacian(300, 4));
  const matrix good = to_stencil<std::uint8_t>(a, plan_stencils(a));
  ASSERT_EQ(violation(good), "");
  ASSERT_GT(good.rest_row.size(), 2);
  ASSERT_GT(stencils_of(good), 2);
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& m) { m.shape.rows += 1; }), "");
  EXPECT_NE(broken([](matrix& m) { m.shape.cols = 1000; }), "");
  EXPECT_NE(broken([](matrix& m) { m.number.resize(1000); }), "");
  EXPECT_NE(broken([](matrix& m) { m.number[5] = 255; }), "");
  EXPECT_NE(broken([](matrix& m) { m.number[0] = m.number[500]; }), ""); // reaches column -1
  EXPECT_NE(broken([](matrix& m) { m.number[3] = 0; }), "");             // that row is beside the table
  EXPECT_NE(broken([](matrix& m) { m.start[0] = 1; }), "");
  EXPECT_NE(broken([](matrix& m) { m.start[1] = m.start[2] + 1; }), "");
  EXPECT_NE(broken([](matrix& m) { m.start[stencils_of(m)] += 1; }), "");
  EXPECT_NE(broken([](matrix& m) { m.offset[1] = m.offset[0]; }), "");
  EXPECT_NE(broken([](matrix& m) { m.val.extend(m.val.size() + 1); }), "");
  EXPECT_NE(broken([](matrix& m) { m.rest_row[1] = m.rest_row[0]; }), "");
  EXPECT_NE(broken([](matrix& m) { m.rest_row.extend(m.rest_row.size() - 1); }), "");
  EXPECT_NE(broken([](matrix& m) { m.rest.col[0] = -1; }), "");
}

} // namespace
} // namespace furrow
