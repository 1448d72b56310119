// SPDX-License-Identifier: BSD-3-Clause
// What kernels of several GPUs do through each other's memory, done by threads.
#include "routes.hpp"

#include "backends/gpu/mailbox.hpp"
#include "distributed/rows_of_rank.hpp"

#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

namespace furrow {
namespace {

using gpu::mailbox::layout;

/// Inboxes of all ranks in one place.
struct inboxes {
  layout at;
  std::vector<std::vector<std::uint64_t>> words;
  std::atomic<bool> ended = false;

  inboxes(int ranks, int most)
      : at{ranks, most},
        words(static_cast<std::size_t>(ranks), std::vector<std::uint64_t>(static_cast<std::size_t>(at.words()), 0)) {}
};

struct memory_of_thread {
  inboxes& all;
  int rank;
  std::atomic_ref<std::uint64_t> word(int of, index_t place) {
    return std::atomic_ref(all.words[static_cast<std::size_t>(of)][static_cast<std::size_t>(place)]);
  }
  void put(int to, index_t place, std::uint64_t w) { word(to, place).store(w, std::memory_order_relaxed); }
  std::uint64_t get(index_t place) { return word(rank, place).load(std::memory_order_relaxed); }
  bool over(int) {
    std::this_thread::yield();
    return all.ended.load(std::memory_order_relaxed);
  }
};

TEST(mailbox_sums, are_those_of_the_ranks_in_their_order) {
  constexpr int most = 3;
  constexpr std::uint32_t rounds = 1000;
  for (const int ranks : {1, 2, 3, 7}) {
    inboxes all(ranks, most);
    run_ranks(ranks, [&](communicator& c) {
      memory_of_thread memory{all, c.rank()};
      const auto numbers = kit::random_vector<double>(most * rounds, 10 + std::uint32_t(c.rank()));
      std::vector<double> mine(numbers.begin(), numbers.end()), sums;
      for (std::uint32_t round = 1; round <= rounds; ++round)
        for (int k = 0; k < most; ++k)
          sums.push_back(gpu::mailbox::sum_over_ranks(memory, all.at, c.rank(), round, k, mine[sums.size()]));
      c.sum(view<double>(mine));
      for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], mine[i]) << ranks << " ranks, " << i;
    });
  }
}

TEST(mailbox_sums, go_on_when_the_number_of_rounds_starts_again) {
  inboxes all(2, 1);
  run_ranks(2, [&](communicator& c) {
    memory_of_thread memory{all, c.rank()};
    std::uint32_t round = ~std::uint32_t(0) - 5;
    for (int t = 0; t < 12; ++t, round = gpu::mailbox::round_after(round)) {
      EXPECT_NE(round, 0U);
      EXPECT_EQ(gpu::mailbox::sum_over_ranks(memory, all.at, c.rank(), round, 0, t + 0.25 * c.rank()), 2 * t + 0.25);
    }
    EXPECT_EQ(round, 8U);
  });
}

TEST(mailbox_sums, carry_every_number) {
  for (const double number : {0.0, -0.0, 1e-310, 1e308, HUGE_VAL, -1.0 / 3, std::nan("")}) {
    const auto low = gpu::mailbox::word_of(number, 0, 7), high = gpu::mailbox::word_of(number, 1, 7);
    EXPECT_TRUE(gpu::mailbox::is_of(low, 7) && gpu::mailbox::is_of(high, 7));
    EXPECT_FALSE(gpu::mailbox::is_of(low, 9));
    const double back = gpu::mailbox::number_of(low, high);
    EXPECT_EQ(std::memcmp(&number, &back, sizeof back), 0) << number;
    const auto narrow = static_cast<float>(number), again = gpu::mailbox::number_of(gpu::mailbox::word_of(narrow, 7));
    EXPECT_TRUE(gpu::mailbox::is_of(gpu::mailbox::word_of(narrow, 7), 7));
    EXPECT_EQ(std::memcmp(&narrow, &again, sizeof again), 0) << number;
  }
}

TEST(mailbox_sums, end_where_somebody_does_not_come) {
  inboxes all(3, 1);
  run_ranks(3, [&](communicator& c) {
    memory_of_thread memory{all, c.rank()};
    if (c.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      all.ended = true;
    } else EXPECT_TRUE(std::isnan(gpu::mailbox::sum_over_ranks(memory, all.at, c.rank(), 1, 0, 1)));
  });
}

/// Buffers of all ranks, two of each, of words; and for each rank which products its neighbours have begun.
struct buffers {
  std::vector<std::array<std::vector<std::uint64_t>, 2>> there;
  std::vector<std::vector<std::uint32_t>> told;
};

/// Many products with another x each, some ranks slower than others: everybody gets what the exchange by messages
/// brings, though nothing is written in an order: neighbours are told before there is anything.
void check_routes(const coo<double>& a, int ranks) {
  buffers all;
  all.there.resize(static_cast<std::size_t>(ranks));
  all.told.assign(static_cast<std::size_t>(ranks), std::vector<std::uint32_t>(static_cast<std::size_t>(ranks), 0));
  const auto word_at = [&](std::size_t rank, std::uint32_t t, index_t word) {
    return std::atomic_ref(all.there[rank][t % 2][static_cast<std::size_t>(word)]);
  };
  run_ranks(ranks, [&](communicator& c) {
    const auto me = static_cast<std::size_t>(c.rank());
    const index_t first = a.shape.rows * c.rank() / ranks, last = a.shape.rows * (c.rank() + 1) / ranks;
    std::vector<kit::triplet> mine;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] >= first && a.row[k] < last) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
    const auto rows = take_apart_rows(c, kit::assemble({last - first, a.shape.cols}, std::move(mine)));
    const auto routes = gpu::routes_of(c, rows.plan);
    halo<double> by_messages(c, rows.plan);
    constexpr int words = gpu::mailbox::words_of<double>;
    for (auto& buffer : all.there[me]) buffer.assign(static_cast<std::size_t>(words * routes.arrive), 0);
    c.sum(0);
    for (std::uint32_t t = 1; t <= 200; ++t) {
      const auto x = kit::random_vector<double>(last - first, t);
      for (const int n : routes.neighbours)
        std::atomic_ref(all.told[static_cast<std::size_t>(n)][me]).store(t, std::memory_order_relaxed);
      for (const auto& route : routes.sends)
        for (index_t k = route.begin; k < route.end; ++k)
          for (int half = words; half-- > 0;)
            word_at(static_cast<std::size_t>(route.rank), t, words * (route.at + k - route.begin) + half)
                .store(gpu::mailbox::word_of(x[rows.plan.rows_sent[k]], half, t), std::memory_order_relaxed);
      if (t % 50 == std::uint32_t(c.rank())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (const int n : routes.neighbours)
        while (std::int32_t(std::atomic_ref(all.told[me][static_cast<std::size_t>(n)]).load(std::memory_order_relaxed) -
                            t) < 0)
          std::this_thread::yield();
      const auto take = [&](index_t word) {
        for (;; std::this_thread::yield()) {
          const std::uint64_t there = word_at(me, t, word).load(std::memory_order_relaxed);
          if (gpu::mailbox::is_of(there, t)) return there;
        }
      };
      std::vector<double> came;
      for (index_t k = 0; k < routes.arrive; ++k)
        came.push_back(gpu::mailbox::number_of(take(words * k), take(words * k + 1)));
      by_messages.start(as_cview(x));
      const cview<double> expected = by_messages.finish();
      ASSERT_EQ(index_t(came.size()), expected.size);
      for (index_t k = 0; k < expected.size; ++k) ASSERT_EQ(came[std::size_t(k)], expected[k]) << "product " << t;
    }
  });
}

TEST(halo_routes, bring_what_messages_bring) {
  for (const int ranks : kit::numbers_of_ranks) check_routes(kit::laplacian(9, 8), ranks);
  // One that sends and gets nothing back: entries below the diagonal alone.
  check_routes(kit::assemble({6, 6}, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 0, 1}, {4, 1, 1}, {5, 2, 1}}), 3);
}

} // namespace
} // namespace furrow
