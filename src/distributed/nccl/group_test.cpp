// SPDX-License-Identifier: BSD-3-Clause
// What is done with NCCL, by a library that stands in for it: ranks are threads, and a stream is one of them.
#include "group.hpp"

#include "distributed/rows_of_rank.hpp"

#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace furrow {
namespace {

/// Of one rank: its communicator, which moves the bytes in its place.
struct stand_in {
  communicator& c;
  std::vector<outgoing> out{};
  std::vector<incoming> in{};
  bool fails = false; ///< to be brought to the others
};
thread_local stand_in* here = nullptr;
thread_local nccl::result next_result = nccl::success, async_result = nccl::success;
std::atomic<int> made = 0, destroyed = 0, aborted = 0;

nccl::handle handle_here() { return reinterpret_cast<nccl::handle>(here); }

nccl::library stand_ins() {
  nccl::library l;
  l.version = 22001;
  l.get_unique_id = [](nccl::unique_id* id) {
    *id = {"the one of rank 0"};
    return next_result;
  };
  l.init_rank = [](nccl::handle* to, int ranks, nccl::unique_id id, int rank) {
    EXPECT_STREQ(id.bytes, "the one of rank 0");
    EXPECT_EQ(ranks, here->c.size());
    EXPECT_EQ(rank, here->c.rank());
    if (here->fails) return 2;
    *to = handle_here();
    ++made;
    return nccl::success;
  };
  l.destroy = [](nccl::handle) { return ++destroyed, nccl::success; };
  l.abort = [](nccl::handle) { return ++aborted, nccl::success; };
  l.get_async_error = [](nccl::handle, nccl::result* e) {
    *e = async_result;
    return nccl::success;
  };
  l.error_string = [](nccl::result r) { return r == 6 ? "remote process exited" : "something else"; };
  l.all_gather = [](const void* mine, void* all, std::size_t count, nccl::type of, nccl::handle h, nccl::stream on) {
    EXPECT_EQ(of, nccl::type::f64);
    EXPECT_EQ(h, handle_here());
    EXPECT_EQ(on, here);
    if (next_result != nccl::success) return next_result;
    const auto n = index_t(count);
    const host_array<double> copy = [&] { // it may lie in `all`
      host_array<double> own(n);
      std::copy_n(static_cast<const double*>(mine), n, own.begin());
      return own;
    }();
    here->c.gather_all(bytes_of(as_cview(copy)), bytes_of(view<double>(static_cast<double*>(all), n * here->c.size())));
    return nccl::success;
  };
  l.send = [](const void* data, std::size_t count, nccl::type of, int to, nccl::handle, nccl::stream) {
    const auto bytes = index_t(count * (of == nccl::type::f64 ? 8 : 4));
    here->out.push_back({to, {static_cast<const std::byte*>(data), bytes}});
    return next_result;
  };
  l.receive = [](void* data, std::size_t count, nccl::type of, int from, nccl::handle, nccl::stream) {
    const auto bytes = index_t(count * (of == nccl::type::f64 ? 8 : 4));
    here->in.push_back({from, {static_cast<std::byte*>(data), bytes}});
    return nccl::success;
  };
  l.group_start = [] {
    here->out.clear(), here->in.clear();
    return nccl::success;
  };
  l.group_end = [] {
    if (next_result != nccl::success) return nccl::success;
    here->c.start(here->out, here->in);
    here->c.finish();
    return nccl::success;
  };
  return l;
}

/// f(communicator, group) on ranks that have one.
template <class F> void on_ranks(int ranks, F f) {
  const nccl::library by = stand_ins();
  run_ranks(ranks, [&](communicator& c) {
    stand_in mine{c};
    here = &mine, next_result = async_result = nccl::success;
    nccl::group g(by, c);
    f(c, g);
  });
}

TEST(nccl_group, gathers_in_place) {
  made = destroyed = aborted = 0;
  for (const int ranks : kit::numbers_of_ranks)
    on_ranks(ranks, [&](communicator& c, nccl::group& g) {
      std::vector<double> all(3 * static_cast<std::size_t>(ranks), -1);
      double* const mine = all.data() + 3 * c.rank();
      for (int k = 0; k < 3; ++k) mine[k] = 10 * c.rank() + k;
      g.gather(mine, all.data(), 3, here);
      for (int r = 0; r < ranks; ++r)
        for (int k = 0; k < 3; ++k) ASSERT_EQ(all[static_cast<std::size_t>(3 * r + k)], 10 * r + k);
    });
  EXPECT_EQ(made, 17);
  EXPECT_EQ(destroyed, 17);
  EXPECT_EQ(aborted, 0);
}

template <class V> void check_exchange(const coo<double>& a, int ranks) {
  on_ranks(ranks, [&](communicator& c, nccl::group& g) {
    const index_t first = a.shape.rows * c.rank() / ranks, last = a.shape.rows * (c.rank() + 1) / ranks;
    std::vector<kit::triplet> mine;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] >= first && a.row[k] < last) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
    const auto rows = take_apart_rows(c, kit::assemble({last - first, a.shape.cols}, std::move(mine)));
    const auto x = kit::random_vector<V>(last - first, 5);
    halo<V> by_messages(c, rows.plan);
    by_messages.start(as_cview(x));
    const cview<V> expected = by_messages.finish();
    host_array<V> packed(rows.plan.rows_sent.size()), there(rows.plan.columns.size(), V(-1));
    for (index_t k = 0; k < packed.size(); ++k) packed[k] = x[rows.plan.rows_sent[k]];
    g.exchange(rows.plan, static_cast<const V*>(packed.data()), there.data(), here);
    for (index_t k = 0; k < there.size(); ++k) ASSERT_EQ(there[k], expected[k]);
  });
}

TEST(nccl_group, exchanges_what_messages_bring) {
  for (const int ranks : kit::numbers_of_ranks) {
    check_exchange<double>(kit::laplacian(9, 8), ranks);
    check_exchange<float>(kit::laplacian(9, 8), ranks);
  }
  check_exchange<double>(kit::assemble({6, 6}, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 0, 1}, {4, 1, 1}, {5, 2, 1}}), 3);
}

TEST(nccl_group, says_what_failed_in_the_words_of_the_library) {
  on_ranks(1, [](communicator&, nccl::group& g) {
    double number = 1;
    next_result = 6;
    EXPECT_EQ(kit::said_by([&] { g.gather(&number, &number, 1, here); }),
              "NCCL 2.20.1 failed to add over the ranks: remote process exited");
    halo_plan plan;
    plan.sends.push_back({0, 0, 1});
    EXPECT_EQ(kit::said_by([&] { g.exchange(plan, static_cast<const double*>(&number), &number, here); }),
              "NCCL 2.20.1 failed to exchange elements of vectors: remote process exited");
  });
  const nccl::library by = stand_ins();
  EXPECT_EQ(kit::said_by([&] {
              run_ranks(3, [&](communicator& c) {
                stand_in mine{c};
                here = &mine, next_result = c.rank() == 0 ? 2 : 0;
                const nccl::group g(by, c);
              });
            }),
            "rank 0: NCCL 2.20.1 failed to let ranks find each other: something else");
  destroyed = aborted = 0;
  EXPECT_EQ(kit::said_by([&] {
              run_ranks(3, [&](communicator& c) {
                stand_in mine{c};
                here = &mine, next_result = 0, mine.fails = c.rank() == 1;
                const nccl::group g(by, c);
              });
            }),
            "rank 1: NCCL 2.20.1 failed to bring the ranks together: something else");
  EXPECT_EQ(aborted, 2); // those that were there
  EXPECT_EQ(destroyed, 0);
}

TEST(nccl_group, tells_of_failures_behind_its_calls) {
  on_ranks(1, [](communicator&, nccl::group& g) {
    EXPECT_EQ(g.failure(), "");
    async_result = nccl::in_progress;
    EXPECT_EQ(g.failure(), "");
    async_result = 6;
    EXPECT_EQ(g.failure(), "remote process exited");
  });
}

TEST(nccl_group, is_over_when_it_was_aborted) {
  destroyed = aborted = 0;
  on_ranks(1, [](communicator&, nccl::group& g) {
    g.abort();
    g.abort();
    EXPECT_EQ(g.failure(), "");
    double number = 1;
    EXPECT_EQ(kit::said_by([&] { g.gather(&number, &number, 1, here); }), "NCCL has ended the work of the ranks");
  });
  EXPECT_EQ(aborted, 1);
  EXPECT_EQ(destroyed, 0);
}

} // namespace
} // namespace furrow
