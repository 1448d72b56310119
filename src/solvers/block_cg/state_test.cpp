// SPDX-License-Identifier: BSD-3-Clause
// What block conjugate gradients work out beside their vectors, by teams of any size.
#include "state.hpp"

#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>
#include <type_traits>
#include <vector>

namespace furrow {
namespace {

/// A team of threads, as a block of a GPU is one.
struct team_of_threads {
  int rank, size;
  std::barrier<>* all;
  void sync() const { all->arrive_and_wait(); }
};
template <class F> void together(int members, F f) {
  if (members == 1) return f(block_cg::alone{});
  std::barrier all(members);
  std::vector<std::jthread> threads;
  for (int k = 0; k < members; ++k) threads.emplace_back([&, k] { f(team_of_threads{k, members, &all}); });
}

TEST(block_cg_algebra, drops_directions_that_depend_on_others) {
  block_cg::square<4> g; // of the columns a, b, a + b, 0
  const double a[3] = {3, 1, 2}, b[3] = {-1, 2, 5};
  const auto entry = [&](int i, int j) {
    const auto element = [&](int c, int k) { return c == 0 ? a[k] : c == 1 ? b[k] : c == 2 ? a[k] + b[k] : 0; };
    return element(i, 0) * element(j, 0) + element(i, 1) * element(j, 1) + element(i, 2) * element(j, 2);
  };
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) g[i][j] = entry(i, j);
  for (const int members : {1, 3, 16}) {
    block_cg::square<4> used = g, factor, inverse, half, q, whole;
    block_cg::small_room<4> room;
    together(members, [&](const auto& team) {
      const auto f = block_cg::orthonormalise(team, used, 1e-14, factor, inverse, room);
      EXPECT_EQ(f.rank, 2);
      block_cg::multiply(team, g, inverse, half);
      block_cg::multiply(team, inverse, half, q, true);
      block_cg::multiply(team, factor, factor, whole, true);
    });
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        EXPECT_NEAR(q[i][j], i == j && i < 2, 1e-12);
        EXPECT_NEAR(whole[i][j], g[i][j], 1e-12);
      }
  }
}

/// What a step works out beside the vectors, from Gram matrices of random vectors, by so many members.
template <int W> block_cg::block_state<W> state_after_a_step(int members) {
  const auto gram = [](std::uint64_t seed, double shift) {
    const auto v = kit::random_vector<double>(W * 20, seed);
    block_cg::square<W> g{};
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) {
        for (int k = 0; k < 20; ++k) g[i][j] += v[i * 20 + k] * v[j * 20 + k];
        g[i][j] += i == j ? shift : 0;
      }
    return g;
  };
  block_cg::block_state<W> s{};
  block_cg::step_record<W> record{};
  block_cg::small_room<W> room;
  s.c = block_cg::square<W>::identity();
  s.count = W, s.nothing = 1e-14, s.again = true;
  for (int k = 0; k < W; ++k) s.residual[k] = 2, s.goal[k] = 1e-8;
  s.slots[control::rr] = s.slots[control::peak] = s.slots[control::best] = 1e20;
  s.most = {.goal = 1, .steps = 1e9, .patience = 1e9, .ceiling = 1e300, .hump = 1e300};
  s.g = gram(1, 0.1);
  together(members, [&](const auto& team) { block_cg::after_gram<W>::run(team, s, record, room); });
  EXPECT_TRUE(s.again);
  s.g = gram(2, 4);
  together(members, [&](const auto& team) { block_cg::after_gram_again<W>::run(team, s, record, room); });
  s.g = gram(3, 1);
  together(members, [&](const auto& team) { block_cg::after_product<W>::run(team, s, record, room); });
  s.g = gram(4, 1), s.h = gram(5, 0);
  together(members, [&](const auto& team) { block_cg::after_shrink<W>::run(team, s, record, room); });
  EXPECT_EQ(s.why, control::running);
  EXPECT_EQ(s.rank, W);
  EXPECT_EQ(s.slots[control::steps], 1);
  return s;
}

TEST(block_cg_algebra, works_out_the_same_beside_the_vectors_for_any_number_of_members) {
  const auto same = [](const auto& one, const auto& many) {
    for (const auto which : {&std::decay_t<decltype(one)>::c, &std::decay_t<decltype(one)>::xi,
                             &std::decay_t<decltype(one)>::factor, &std::decay_t<decltype(one)>::inverse,
                             &std::decay_t<decltype(one)>::norms_in_m, &std::decay_t<decltype(one)>::x_in_m})
      EXPECT_EQ(std::memcmp(&(one.*which), &(many.*which), sizeof(one.*which)), 0);
    EXPECT_TRUE(std::ranges::equal(one.residual, many.residual));
    EXPECT_TRUE(std::ranges::equal(one.ratio_in_m, many.ratio_in_m));
  };
  for (const int members : {2, 7, 32}) {
    same(state_after_a_step<2>(1), state_after_a_step<2>(members));
    same(state_after_a_step<8>(1), state_after_a_step<8>(members));
    same(state_after_a_step<16>(1), state_after_a_step<16>(members));
  }
}

TEST(block_cg_algebra, inverts_a_definite_matrix_and_names_the_direction_that_is_none) {
  block_cg::square<4> d{}, inverse, product;
  block_cg::small_room<4> room;
  double v[4] = {};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) d[i][j] = i == j ? 2.0 + i : 0.5;
  together(4, [&](const auto& team) {
    EXPECT_TRUE(block_cg::invert(team, d, 3, 1e-15, inverse, v, room).found);
    block_cg::multiply(team, d, inverse, product);
  });
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(product[i][j], i == j, 1e-14);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(inverse[i][3], 0);
  d[2][2] = -1;
  together(4, [&](const auto& team) {
    const auto stopped = block_cg::invert(team, d, 3, 1e-15, inverse, v, room);
    EXPECT_FALSE(stopped.found);
    EXPECT_LT(stopped.pivot, 0);
  });
  double form = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) form += v[i] * d[i][j] * v[j];
  EXPECT_LT(form, -1);
  EXPECT_EQ(v[2], 1);
}

} // namespace
} // namespace furrow
