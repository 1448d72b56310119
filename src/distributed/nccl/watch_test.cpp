// SPDX-License-Identifier: BSD-3-Clause
#include "watch.hpp"

#include "kit/ranks_check.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace furrow {
namespace {

using namespace std::chrono_literals;
using nccl::counts;

/// A GPU that is watched: what it has counted, and whether it was given up.
struct watched {
  std::shared_ptr<nccl::ending> end = std::make_shared<nccl::ending>();
  std::atomic<std::uint64_t> sums_begun = 0, sums_ended = 0, halos_begun = 0, halos_ended = 0;
  std::atomic<bool> fails = false;
  std::atomic<int> given_up = 0;

  std::unique_ptr<nccl::watch> start(std::chrono::milliseconds patience = 200ms) {
    nccl::watch::who who;
    who.look = [this] { return counts{sums_begun, sums_ended, halos_begun, halos_ended}; };
    who.failure = [this] { return std::string(fails ? "the network is down" : ""); };
    who.give_up = [this] { ++given_up; };
    who.name = "gpu:3 (rank 1)";
    return std::make_unique<nccl::watch>(end, who, patience);
  }
  /// Whether it was given up within a time that is long beside the patience.
  bool ends() const {
    for (int k = 0; k < 400 && given_up == 0; ++k) std::this_thread::sleep_for(10ms);
    return given_up > 0;
  }
  std::string sentence() const {
    return kit::said_by([&] { end->check(); });
  }
};

TEST(nccl_watch, gives_up_where_nobody_answers) {
  for (const bool sum : {true, false}) {
    watched one;
    (sum ? one.sums_begun : one.halos_begun) = 7;
    const auto watch = one.start();
    EXPECT_TRUE(one.ends());
    EXPECT_EQ(one.sentence(), "gpu:3 (rank 1) has waited 0.2 s for the others through NCCL, and one of them does not "
                              "answer: the solve ends");
  }
}

TEST(nccl_watch, leaves_alone_who_works_or_rests) {
  watched works, rests;
  rests.sums_begun = rests.sums_ended = 4, rests.halos_begun = rests.halos_ended = 2;
  const auto one = works.start(400ms), other = rests.start(100ms);
  for (int k = 0; k < 50; ++k) { // a sum is under way whenever somebody looks, but not the same one for long
    works.sums_begun = std::uint64_t(k) + 1, works.sums_ended = std::uint64_t(k);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(works.given_up, 0);
  EXPECT_EQ(rests.given_up, 0);
  EXPECT_EQ(rests.sentence(), "");
}

TEST(nccl_watch, says_what_the_library_says) {
  watched one;
  const auto watch = one.start();
  one.fails = true;
  EXPECT_TRUE(one.ends());
  EXPECT_EQ(one.sentence(), "NCCL failed on gpu:3 (rank 1): the network is down: the solve ends");
}

TEST(nccl_watch, hears_what_others_of_the_process_say) {
  watched one;
  const auto watch = one.start(1h);
  one.end->say("the solve of another rank has ended");
  one.end->say("and this one too");
  EXPECT_TRUE(one.ends());
  EXPECT_EQ(one.sentence(), "the solve of another rank has ended");
  EXPECT_EQ(one.given_up, 1);
}

TEST(nccl_watch, ends_at_once_when_it_is_not_needed) {
  const auto began = std::chrono::steady_clock::now();
  watched one;
  one.start(1h).reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
  EXPECT_EQ(one.given_up, 0);
}

TEST(nccl_ending, is_one_for_all_threads) {
  for (const int ranks : kit::numbers_of_ranks)
    EXPECT_EQ(kit::sentence_of_ranks(ranks,
                                     [&](communicator& c) {
                                       const auto end = nccl::ending_of_process(c);
                                       EXPECT_FALSE(end->has_come());
                                       c.sum(0);
                                       if (c.rank() == c.size() - 1) end->say("one is gone");
                                       c.sum(0);
                                       end->check();
                                     }),
              "one is gone");
}

} // namespace
} // namespace furrow
