// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/bytes.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace furrow {
namespace {

class ranks_of_threads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, ranks_of_threads, testing::ValuesIn(kit::numbers_of_ranks));

TEST_P(ranks_of_threads, are_numbered_and_all_run) {
  std::vector<std::atomic<int>> ran(static_cast<std::size_t>(GetParam()));
  run_ranks(GetParam(), [&](communicator& c) {
    EXPECT_EQ(c.size(), GetParam());
    ++ran[static_cast<std::size_t>(c.rank())];
  });
  for (const auto& times : ran) EXPECT_EQ(times, 1);
}

TEST_P(ranks_of_threads, gather_what_each_has) {
  run_ranks(GetParam(), [](communicator& c) {
    for (int round = 0; round < 500; ++round) {
      const auto all = gather_each(c, 1000 * round + c.rank());
      for (int r = 0; r < c.size(); ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], 1000 * round + r);
    }
    EXPECT_EQ(c.max(c.rank()), c.size() - 1);
    EXPECT_EQ(c.of_first(c.rank() + 5), 5);
    EXPECT_TRUE(c.any(c.rank() == c.size() - 1));
    EXPECT_FALSE(c.any(false));
    c.gather_all({}, {}); // nothing of each
  });
}

TEST_P(ranks_of_threads, add_in_their_order) {
  std::vector<double> sums(static_cast<std::size_t>(GetParam()));
  const auto of_rank = [](int r) { return r % 2 ? -1e16 : 1e16 / 3 + r; };
  run_ranks(GetParam(), [&](communicator& c) {
    double values[] = {of_rank(c.rank()), 1};
    c.sum({values, 2});
    sums[static_cast<std::size_t>(c.rank())] = values[0];
    EXPECT_EQ(values[1], c.size());
    EXPECT_EQ(c.sum(of_rank(c.rank())), values[0]);
  });
  double truth = of_rank(0);
  for (int r = 1; r < GetParam(); ++r) truth += of_rank(r);
  for (const double s : sums) EXPECT_EQ(s, truth);
}

TEST_P(ranks_of_threads, exchange_with_everybody) {
  run_ranks(GetParam(), [](communicator& c) {
    for (index_t round = 0; round < 200; ++round) {
      std::vector<std::vector<index_t>> from(static_cast<std::size_t>(c.size()));
      std::vector<index_t> mine(static_cast<std::size_t>(round % 5),
                                100 * round + c.rank()); // also messages of nothing
      std::vector<outgoing> out;
      std::vector<incoming> in;
      for (int r = 0; r < c.size(); ++r) {
        if (r == c.rank()) continue;
        from[static_cast<std::size_t>(r)].resize(mine.size());
        out.push_back({r, bytes_of(cview<index_t>(mine))});
        in.push_back({r, bytes_of(view<index_t>(from[static_cast<std::size_t>(r)]))});
      }
      c.start(out, in);
      c.finish();
      for (int r = 0; r < c.size(); ++r)
        for (const index_t v : from[static_cast<std::size_t>(r)]) ASSERT_EQ(v, 100 * round + r);
    }
  });
}

TEST_P(ranks_of_threads, share_the_threads) {
  const int before = threads();
  set_threads(5);
  std::atomic<int> together = 0;
  run_ranks(GetParam(), [&](communicator&) { together += threads(); });
  EXPECT_EQ(together, std::max(5, GetParam()));
  EXPECT_EQ(threads(), 5);
  set_threads(before);
}

TEST_P(ranks_of_threads, end_with_the_sentence_of_the_one_that_fails) {
  for (int failing = 0; failing < GetParam(); ++failing) {
    const auto meet = [&](communicator& c) {
      for (int round = 0; round < 20; ++round) {
        if (round == 10 && c.rank() == failing) throw error(fault::memory, "there is no room");
        c.sum(1);
      }
    };
    EXPECT_EQ(kit::sentence_of_ranks(GetParam(), meet), "there is no room");
    const auto abort = [&](communicator& c) {
      if (c.rank() == failing) c.abort(error(fault::input, "enough"));
      c.sum(1);
    };
    EXPECT_EQ(kit::sentence_of_ranks(GetParam(), abort), "enough");
  }
}

TEST(threads_as_ranks, wake_who_waits_for_a_message_of_one_that_fails) {
  const auto f = [](communicator& c) {
    if (c.rank() == 1) throw error(fault::input, "no message today");
    double room = 0;
    if (c.rank() == 0) {
      const incoming in{1, bytes_of(view<double>(&room, 1))};
      c.start({}, {&in, 1});
      c.finish();
    } else {
      const outgoing out{1, bytes_of(cview<double>(&room, 1))}; // which nobody takes
      c.start({&out, 1}, {});
      c.finish();
    }
  };
  EXPECT_EQ(kit::sentence_of_ranks(3, f), "no message today");
}

TEST(threads_as_ranks, pass_on_what_is_no_error) {
  EXPECT_THROW(run_ranks(3,
                         [](communicator& c) {
                           if (c.rank() == 2) throw std::bad_alloc();
                           c.sum(1);
                         }),
               std::bad_alloc);
}

TEST(threads_as_ranks, say_so_where_one_ends_while_another_waits) {
  const auto f = [](communicator& c) {
    if (c.rank() == 0) c.sum(1);
  };
  EXPECT_EQ(kit::sentence_of_ranks(2, f), "rank 0 waits for another one, which has ended: all ranks must call the same "
                                          "functions in the same order");
  const auto message = [](communicator& c) {
    if (c.rank() == 1) return;
    double room = 0;
    const incoming in{1, bytes_of(view<double>(&room, 1))};
    c.start({}, {&in, 1});
    c.finish();
  };
  EXPECT_EQ(kit::sentence_of_ranks(2, message), "rank 0 waits for rank 1, which has ended: all ranks must call the "
                                                "same functions in the same order");
}

TEST(threads_as_ranks, say_so_where_they_bring_different_things) {
  const auto f = [](communicator& c) {
    std::vector<double> values(c.rank() == 1 ? 2 : 1);
    c.sum(values);
  };
  EXPECT_NE(kit::sentence_of_ranks(2, f).find("all must call the same functions"), std::string::npos);
}

TEST(threads_as_ranks, are_one_to_256) {
  const auto nothing = [](communicator&) {};
  EXPECT_EQ(kit::sentence_of_ranks(0, nothing), "0 ranks: there are 1 to 256 in a process");
  EXPECT_EQ(kit::sentence_of_ranks(257, nothing), "257 ranks: there are 1 to 256 in a process");
  EXPECT_EQ(kit::sentence_of_ranks(1, [](communicator&) { run_ranks(2, {}); }), "the function of the ranks is empty");
  EXPECT_EQ(kit::sentence_of_ranks(256, [](communicator& c) { c.sum(1); }), "");
}

TEST(threads_as_ranks, know_their_devices) {
  run_ranks(3, [](communicator& c) { EXPECT_FALSE(c.where().is_gpu()); });
  std::vector<device> on;
  for (const int k : {4, 2}) on.push_back({device::kind::gpu, k});
  run_ranks(on, [&](communicator& c) { EXPECT_EQ(c.where(), on[static_cast<std::size_t>(c.rank())]); });
  EXPECT_EQ(kit::sentence_of_ranks(1, [](communicator&) { run_ranks(std::vector<device>(), [](communicator&) {}); }),
            "0 ranks: there are 1 to 256 in a process");
}

TEST(devices, are_named_one_by_one_or_all) {
  EXPECT_EQ(parse_devices("cpu"), std::vector<device>{device{}});
  for (const char* words : {"gpu:0,", "gpu:,1", "gpu:0,x", "gpu:0,-1", "gpu:0,,1", "gpu:1,all"})
    EXPECT_EQ(kit::said_by([&] { parse_devices(words); }),
              "'" + std::string(words) + "' names no GPUs: say gpu:all, or their numbers as in gpu:0,1");
  EXPECT_NE(kit::said_by([] { parse_devices("tpu:0,1"); }).find("there is no device 'tpu:0,1'"), std::string::npos);
  std::string many = "gpu:0";
  for (int k = 0; k < 256; ++k) many += ",0";
  EXPECT_NE(kit::said_by([&] { parse_devices(many); }).find("names more than 256 GPUs"), std::string::npos);
  const auto count = inspect_gpus().gpus.size();
  for (const char* words : {"gpu:all", "gpu:0,0"}) {
    if (count == 0)
      EXPECT_NE(kit::said_by([&] { parse_devices(words); }).find("no GPU can be used"), std::string::npos);
    else EXPECT_EQ(parse_devices(words).size(), std::string_view(words) == "gpu:all" ? count : 2);
  }
}

TEST(threads_as_ranks, run_inside_ranks_and_beside_others) {
  std::atomic<int> ran = 0;
  const auto inner = [&](communicator& c) { ran += int(c.sum(1)); };
  run_ranks(2, [&](communicator& c) {
    run_ranks(3, inner);
    c.sum(1);
  });
  EXPECT_EQ(ran, 18);
  std::thread beside([&] { run_ranks(2, inner); });
  run_ranks(2, inner);
  beside.join();
  EXPECT_EQ(ran, 26);
}

TEST(threads_as_ranks, sleep_while_they_wait_for_long) {
  run_ranks(2, [](communicator& c) {
    if (c.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(c.sum(1), 2);
  });
}

} // namespace
} // namespace furrow
