// SPDX-License-Identifier: BSD-3-Clause
#include "inverse.hpp"

#include "preconditioners/entry.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace furrow {
namespace {

TEST(block_inverse, inverts_with_row_exchanges) {
  for (const index_t k : {1, 2, 3, 8, 31, 64, 65, 130}) {
    kit::splitmix random(static_cast<std::uint64_t>(k));
    std::vector<double> a(static_cast<std::size_t>(k * k));
    for (double& v : a) v = random.value();
    for (index_t i = 0; i < k && k > 1; ++i) a[i * k + i] = 0; // every pivot wants another row
    auto inverse = a;
    ASSERT_TRUE(block_jacobi_preconditioner::invert(inverse, k));
    for (index_t i = 0; i < k; ++i)
      for (index_t j = 0; j < k; ++j) {
        long double sum = 0;
        for (index_t l = 0; l < k; ++l) sum += static_cast<long double>(a[i * k + l]) * inverse[l * k + j];
        ASSERT_NEAR(double(sum), i == j, k > 31 ? 1e-10 : 1e-11) << k;
      }
  }
  std::vector<double> singular{1, 2, 2, 4};
  EXPECT_FALSE(block_jacobi_preconditioner::invert(singular, 2));
}

template <class V> struct block_jacobi : testing::Test {
  static auto make(const coo<double>& a, const std::string& name, bool definite) {
    const matrix_kind kind{definite, definite};
    return make_preconditioner<V>(name, kit::as_precision<V>(a), {}, {kind, kind});
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(block_jacobi, precisions);

TYPED_TEST(block_jacobi, inverts_a_block_diagonal_matrix) {
  using V = TypeParam;
  for (const index_t edge : {1, 3, 5}) {
    kit::splitmix random(4);
    const index_t n = 47; // the last block is smaller
    const auto a = kit::from_function(n, [&](index_t i, index_t j) {
      const double v = random.value();
      return i == j ? 6 + v : i / edge == j / edge ? v : 0.0;
    });
    const auto m = this->make(a, "block_jacobi:" + std::to_string(edge), false);
    const auto x = kit::random_vector<V>(n, 5);
    kit::guarded<V, kit::host_side> r(kit::times(a, x)), z = kit::guarded<V, kit::host_side>::unwritten(n);
    m->apply(r.get(), z.get());
    const auto got = z.take();
    for (index_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], x[i], 20 * std::numeric_limits<V>::epsilon());
  }
}

/// Strong inside of blocks of 1 to 7 rows.
coo<double> blocks_of(const std::vector<index_t>& starts, index_t n) {
  kit::splitmix random(4);
  const auto block = [&](index_t i) { return std::ranges::upper_bound(starts, i) - starts.begin(); };
  return kit::from_function(n, [&](index_t i, index_t j) {
    const double v = random.value();
    return i == j ? 6 + v : block(i) == block(j) ? v : 0.0;
  });
}

TYPED_TEST(block_jacobi, inverts_given_blocks_of_different_sizes) {
  using V = TypeParam;
  const index_t n = 23;
  const auto a = blocks_of({0, 1, 4, 11, 13, 16}, n);
  const auto file = testing::TempDir() + "furrow_starts:of_blocks.txt"; // a colon in its name
  std::ofstream(file) << "0\n1\n4\n11\n13\n16\n";
  const auto x = kit::random_vector<V>(n, 5);
  for (const std::string& given : {std::string("0,1,4,11,13,16"), std::string("0,1,4,11,13,16,23"), file}) {
    const auto m = this->make(a, "block_jacobi:starts=" + given, false);
    EXPECT_EQ(m->describe(), "block_jacobi: 6 given blocks of 1 to 7 rows");
    EXPECT_EQ(m->stored_bytes(), sizeof(V) * (1 + 9 + 49 + 4 + 9 + 49) + 2 * 8 * 7);
    const auto layout = find_preconditioner("block_jacobi").lay_out(measure(a), precision_of<V>, "starts=" + given);
    EXPECT_EQ(layout.bytes, m->stored_bytes());
    kit::guarded<V, kit::host_side> r(kit::times(a, x)), z = kit::guarded<V, kit::host_side>::unwritten(n);
    m->apply(r.get(), z.get());
    const auto got = z.take();
    for (index_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], x[i], 20 * std::numeric_limits<V>::epsilon());
  }
  std::filesystem::remove(file);
}

TYPED_TEST(block_jacobi, of_given_blocks_of_one_size_is_that_of_their_size) {
  using V = TypeParam;
  const auto a = generate("elasticity3d:3").a;
  std::string starts = "0";
  for (index_t row = 3; row < a.shape.rows; row += 3) starts += ',' + std::to_string(row);
  const auto r = kit::random_vector<V>(a.shape.rows, 5);
  host_array<V> here(r.size()), there(r.size());
  this->make(a, "block_jacobi:starts=" + starts, true)->apply(as_cview(r), as_view(here));
  this->make(a, "block_jacobi:3", true)->apply(as_cview(r), as_view(there));
  for (index_t i = 0; i < r.size(); ++i) ASSERT_EQ(here[i], there[i]);
}

TEST(given_blocks, are_refused_in_a_sentence) {
  const auto says = [](const char* starts, const char* what) {
    kit::expect_refusal(
        what, [&] { make_preconditioner<double>(std::string("block_jacobi:") + starts, kit::laplacian(200), {}, {}); });
  };
  says("starts=0,3,3,7", "start 3 of block_jacobi is 3, after 3: each must be larger than the one before");
  says("starts=0,7,3", "start 3 of block_jacobi is 3, after 7");
  says("starts=1,3", "the first block of block_jacobi starts at row 1: starts are counted from 0 and the first is 0");
  says("starts=0,60,120,180,201", "start 5 of block_jacobi is row 201 counted from 0, but the matrix has 200 rows");
  says("starts=0,60,120,200,201", "start 4 of block_jacobi is row 200 counted from 0, but the matrix has 200 rows");
  says("starts=0,60,120", "block 3 of block_jacobi has 80 rows, from 120 on counted from 0: 64 are the most");
  says("starts=0,,3", "start 2 of block_jacobi is '', which is no number of a row");
  says("starts=0,99999999999999999999", "start 2 of block_jacobi is '99999999999999999999'");
  says("starts=", "starts= of block_jacobi wants numbers, 0,3,7, or the name of a file with them");
  says("starts=-", "standard input can be read once");
  says("starts=missing.txt", "missing.txt: ");
  says("3:starts=0,3", "blocks are of K rows, or start where they are said to");
  says("start=0,3", "it has no parameter 'start'");
  const auto file = testing::TempDir() + "furrow_half_starts.txt";
  std::ofstream(file) << "0\n2.5\n";
  says(("starts=" + file).c_str(), "start 2 of block_jacobi is 2.5, which is no number of a row");
  std::filesystem::remove(file);
}

TEST(given_blocks, that_are_singular_or_indefinite_are_refused) {
  const auto refused = [](const coo<double>& a, bool definite) {
    const matrix_kind kind{definite, definite};
    return kit::refused_by([&] { make_preconditioner<double>("block_jacobi:starts=0,1,3", a, {}, {kind, kind}); });
  };
  const auto singular = kit::assemble({4, 4}, {{0, 0, 1}, {1, 2, 2}, {2, 2, 4}, {3, 3, 1}});
  EXPECT_EQ(refused(singular, false).why, status::breakdown);
  EXPECT_EQ(refused(singular, false).message, "block 2 of block_jacobi, the 2 rows from 1 on counted from 0, is "
                                              "singular: cut the rows elsewhere");
  const auto indefinite = kit::assemble({4, 4}, {{0, 0, 1}, {1, 1, 1}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {3, 3, 1}});
  EXPECT_EQ(refused(indefinite, true).why, status::not_positive_definite);
  EXPECT_EQ(refused(indefinite, true).message,
            "the 2 x 2 block of the diagonal from row 2 on is not positive definite, so A is not");
}

TYPED_TEST(block_jacobi, finds_the_unknowns_of_a_node_and_solves_strong_couplings) {
  const auto a = generate("elasticity3d:8").a;
  EXPECT_NE(this->make(a, "block_jacobi", true)->describe().find("blocks of 3 x 3"), std::string::npos);
  const auto strong = generate("anisotropic2d:48:100").a; // along its lines
  const auto iterations = [&](const char* name) {
    const auto b = kit::times(strong, host_array<TypeParam>(strong.shape.rows, TypeParam(1)));
    const auto s =
        kit::solve_honestly<TypeParam>(strong, b, kit::options("cg", name, sizeof(TypeParam) == 8 ? 1e-8 : 1e-4));
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
    return s.report.iterations;
  };
  EXPECT_LT(iterations("block_jacobi:16"), iterations("jacobi") / 2);
}

TYPED_TEST(block_jacobi, refuses_or_replaces_what_has_no_inverse) {
  const auto a = kit::assemble({4, 4}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}});
  kit::expect_refusal(status::not_positive_definite, "from row 1 on", [&] { this->make(a, "block_jacobi:2", true); });
  EXPECT_NO_THROW(this->make(a, "block_jacobi:2", false));
  const auto singular = kit::assemble({4, 4}, {{0, 1, 2}, {1, 1, 4}, {2, 2, 1}, {3, 3, 1}});
  const auto m = this->make(singular, "block_jacobi:2", false);
  EXPECT_NE(m->describe().find("1 of 2 are singular"), std::string::npos) << m->describe();
  EXPECT_THROW(this->make(a, "block_jacobi:65", false), error);
}

TYPED_TEST(block_jacobi, and_spai0_say_what_kind_they_are) {
  using V = TypeParam;
  EXPECT_EQ(this->make(kit::laplacian(5), "block_jacobi", true)->what(), any_preconditioner<V>::kind::general);
  const auto a = kit::assemble({2, 2}, {{0, 0, 3}, {0, 1, 4}, {1, 1, -2}});
  const auto m = this->make(a, "spai0", false);
  ASSERT_EQ(m->what(), any_preconditioner<V>::kind::diagonal);
  EXPECT_NEAR(m->diagonal()[0], 3.0 / 25, 1e-7); // the least |m (3, 4) - (1, 0)|
  EXPECT_NEAR(m->diagonal()[1], -0.5, 1e-7);
  EXPECT_THROW(this->make(a, "spai0", true), refusal);
  EXPECT_THROW(this->make(kit::assemble({2, 2}, {{0, 1, 4}, {1, 1, 2}}), "spai0", false), refusal);
}

} // namespace
} // namespace furrow
