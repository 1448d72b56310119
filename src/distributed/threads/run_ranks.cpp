// SPDX-License-Identifier: BSD-3-Clause
#include "room.hpp"

#include "backends/cpu/own_team.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/workers.hpp"
#include "core/check.hpp"

#include <optional>
#include <system_error>
#include <thread>

namespace furrow {
namespace {

/// A rank that is a thread of this process.
class thread_rank final : public communicator {
public:
  thread_rank(room& all, int rank, device where, gpu_way through)
      : all_(all), rank_(rank), where_(where), through_(through) {}

  int rank() const override { return rank_; }
  int size() const override { return all_.size(); }
  void gather_all(cview<std::byte> mine, view<std::byte> all) override { all_.gather_all(rank_, mine, all); }
  void start(std::span<const outgoing> sends, std::span<const incoming> receives) override {
    sends_.assign(sends.begin(), sends.end());
    receives_.assign(receives.begin(), receives.end());
    all_.post(rank_, sends_);
  }
  void finish() override { all_.collect(rank_, sends_, receives_); }
  [[noreturn]] void abort(const error& why) override {
    const auto thrown = std::current_exception(); // itself, where `why` tells of it
    all_.fail(thrown ? thrown : std::make_exception_ptr(why));
    throw room::stopped();
  }
  device where() const override { return where_; }
  gpu_way through() const override { return through_; }

private:
  room& all_;
  int rank_;
  device where_;
  gpu_way through_;
  std::vector<outgoing> sends_;
  std::vector<incoming> receives_;
};

void run_rank(room& all, int rank, int threads, device where, gpu_way through,
              const std::function<void(communicator&)>& f) noexcept {
  try {
    std::optional<cpu::own_team> team;
    if (all.size() > 1) team.emplace(threads, rank + 1);
    thread_rank me(all, rank, where, through);
    f(me);
  } catch (const room::stopped&) { // what it was stands there already
  } catch (...) {
    all.fail(std::current_exception());
  }
  all.leave(rank);
}

void check_count(long long count) {
  check(count >= 1 && count <= room::most, fault::usage, "{} ranks: there are 1 to {} in a process", count, room::most);
}

} // namespace

void run_ranks(int count, const std::function<void(communicator&)>& f) {
  check_count(count);
  check(bool(f), fault::usage, "the function of the ranks is empty");
  run_ranks(std::vector<device>(static_cast<std::size_t>(count)), f);
}

void run_ranks(const std::vector<device>& on, const std::function<void(communicator&)>& f) {
  run_ranks(on, f, gpu_way::best);
}

void run_ranks(const std::vector<device>& on, const std::function<void(communicator&)>& f, gpu_way through) {
  check_count(static_cast<long long>(on.size()));
  const int count = int(on.size());
  const int threads = cpu::thread_count();
  const auto share = [&](int rank) {
    return std::max(1, int(cpu::part_begin(threads, count, rank + 1) - cpu::part_begin(threads, count, rank)));
  };
  room all(count, std::max(count, threads) > cpu::processors());
  std::vector<std::thread> others;
  try {
    for (int r = 1; r < count; ++r)
      others.emplace_back(run_rank, std::ref(all), r, share(r), on[static_cast<std::size_t>(r)], through, std::cref(f));
  } catch (const std::system_error& e) {
    all.fail(
        std::make_exception_ptr(error(fault::memory, fmt::format("the system starts no thread for rank {} of {}: {}",
                                                                 others.size() + 1, count, e.code().message()))));
  }
  run_rank(all, 0, share(0), on.front(), through, f);
  for (std::thread& t : others) t.join();
  if (all.failure()) std::rethrow_exception(all.failure());
}

} // namespace furrow
