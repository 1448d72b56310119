// SPDX-License-Identifier: BSD-3-Clause
#include "ways.hpp"

#include "distributed/machine.hpp"

#include "kit/ranks_check.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

using gpu::choose_way;

TEST(ways_between_gpus, are_the_best_that_there_is) {
  const std::string processes = "they are in several processes", none = "NCCL is not found";
  EXPECT_EQ(choose_way(gpu_way::best, {"", ""}).way, gpu_way::peer_memory);
  EXPECT_EQ(choose_way(gpu_way::best, {"", none}).way, gpu_way::peer_memory);
  EXPECT_EQ(choose_way(gpu_way::best, {processes, ""}).way, gpu_way::nccl);
  const auto host = choose_way(gpu_way::best, {processes, none});
  EXPECT_EQ(host.way, gpu_way::host);
  EXPECT_EQ(host.because, "they are in several processes; NCCL is not found");
  EXPECT_EQ(choose_way(gpu_way::best, {"gpu:0 has several ranks", "gpu:0 has several ranks"}).because,
            "gpu:0 has several ranks");
}

TEST(ways_between_gpus, are_those_that_are_named_or_refused) {
  EXPECT_EQ(choose_way(gpu_way::host, {"", ""}).way, gpu_way::host);
  EXPECT_EQ(choose_way(gpu_way::host, {"", ""}).because, "as asked for");
  EXPECT_EQ(choose_way(gpu_way::nccl, {"", ""}).way, gpu_way::nccl);
  EXPECT_EQ(choose_way(gpu_way::peer_memory, {"", "none"}).way, gpu_way::peer_memory);
  kit::expect_refusal(fault::device, "the ranks cannot talk through NCCL: gpu:0 has several ranks", [] {
    choose_way(gpu_way::nccl, {"", "gpu:0 has several ranks"});
  });
  kit::expect_refusal(
      fault::device, "the ranks cannot talk through peer memory: they are in several processes: take nccl or host", [] {
        choose_way(gpu_way::peer_memory, {"they are in several processes", ""});
      });
}

TEST(ranks_with_gpus, take_the_one_of_their_number_on_the_machine) {
  std::vector<device> here;
  for (const int k : {4, 2, 7}) here.push_back({device::kind::gpu, k});
  run_ranks(7, [&](communicator& c) { // threads of one machine
    const auto with = with_gpus(c, here, gpu_way::nccl);
    EXPECT_EQ(with->where(), here[static_cast<std::size_t>(c.rank() % 3)]);
    EXPECT_EQ(with->through(), gpu_way::nccl);
    EXPECT_EQ(with->rank(), c.rank());
    EXPECT_EQ(with->size(), 7);
    EXPECT_EQ(with->sum(c.rank()), 21); // and they talk as before
    EXPECT_EQ(c.where(), device{});
    EXPECT_EQ(c.through(), gpu_way::best);
  });
}

TEST(ranks_with_gpus, need_gpus) {
  const std::string sentence =
      "ranks with a GPU each need a list of GPUs of their machine: give at least one, and nothing else";
  EXPECT_EQ(kit::sentence_of_ranks(3, [](communicator& c) { with_gpus(c, {}); }), sentence);
  EXPECT_EQ(kit::sentence_of_ranks(3,
                                   [](communicator& c) {
                                     with_gpus(c, {c.rank() == 1 ? device{} : device{device::kind::gpu, 0}});
                                   }),
            "rank 1: " + sentence);
}

TEST(threads_with_gpus, say_what_they_talk_through) {
  run_ranks(
      {{device::kind::gpu, 0}, {device::kind::gpu, 1}}, [](communicator& c) { EXPECT_EQ(c.through(), gpu_way::host); },
      gpu_way::host);
  run_ranks({{device::kind::gpu, 0}}, [](communicator& c) { EXPECT_EQ(c.through(), gpu_way::best); });
}

} // namespace
} // namespace furrow
