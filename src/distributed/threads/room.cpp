// SPDX-License-Identifier: BSD-3-Clause
#include "room.hpp"

#include "core/check.hpp"

#include <chrono>
#include <cstring>
#include <thread>

namespace furrow {
namespace {

constexpr int everybody = -1;
/// Looks before a thread that waits sleeps between looks: some milliseconds, far more than a step of a solver takes.
constexpr int patient_looks = 4000;
constexpr std::chrono::microseconds nap{50};

[[noreturn]] void waits_in_vain(int rank, int whom) {
  throw error(fault::usage, fmt::format("rank {} waits for {}, which has ended: all ranks must call the same functions "
                                        "in the same order",
                                        rank, whom == everybody ? "another one" : fmt::format("rank {}", whom)));
}

void put_message(host_array<std::byte>& to, cview<std::byte> from) {
  to.resize(from.size);
  if (from.size > 0) std::memcpy(to.data(), from.data, to.byte_count());
}

} // namespace

room::room(int size, bool crowded)
    : size_(size), crowded_(crowded), here_(static_cast<std::size_t>(size)),
      boxes_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {}

void room::fail(std::exception_ptr why) noexcept {
  const std::lock_guard lock(one_failure_);
  if (!why_) why_ = std::move(why);
  ended_ = true;
}

/// Until ready() says so. `whom`: whose doing that is.
template <class Ready> void room::wait(Ready ready, int rank, int whom) {
  for (int looks = 0; !ready(); ++looks) {
    if (ended_.load(std::memory_order_relaxed)) throw stopped();
    const bool gone = whom == everybody ? left_ > 0 : here_[static_cast<std::size_t>(whom)].left.load();
    if (gone && !ready()) waits_in_vain(rank, whom);
    if (looks >= patient_looks) std::this_thread::sleep_for(nap);
    else if (crowded_ || looks >= patient_looks / 2) std::this_thread::yield();
#if defined(__x86_64__)
    else __builtin_ia32_pause();
#endif
  }
}

void room::gather_all(int rank, cview<std::byte> mine, view<std::byte> all) {
  require(all.size == mine.size * size_, "what all ranks bring needs room for all");
  place& me = here_[static_cast<std::size_t>(rank)];
  const std::uint64_t number = me.meetings++;
  const auto turn = static_cast<std::size_t>(number % 2);
  put_message(me.brought[turn], mine);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    meeting_.store(number + 1, std::memory_order_release);
  } else {
    wait([&] { return meeting_.load(std::memory_order_acquire) > number; }, rank, everybody);
  }
  for (int r = 0; r < size_; ++r) {
    const auto& brought = here_[static_cast<std::size_t>(r)].brought[turn];
    check(brought.size() == mine.size, fault::usage,
          "rank {} brings {} bytes to a meeting of the ranks to which rank {} brings {}: all must call the same "
          "functions",
          rank, mine.size, r, brought.size());
    if (mine.size > 0) std::memcpy(all.data + r * mine.size, brought.data(), brought.byte_count());
  }
}

void room::post(int rank, std::span<const outgoing> sends) {
  for (const outgoing& s : sends) {
    require(s.rank >= 0 && s.rank < size_ && s.rank != rank, "a message goes to another rank");
    box& b = from_to(rank, s.rank);
    put_message(b.message, s.data);
    b.posted.fetch_add(1, std::memory_order_release);
  }
}

void room::collect(int rank, std::span<const outgoing> sends, std::span<const incoming> receives) {
  for (const incoming& r : receives) {
    require(r.rank >= 0 && r.rank < size_ && r.rank != rank, "a message comes from another rank");
    box& b = from_to(r.rank, rank);
    const std::uint64_t taken = b.taken.load(std::memory_order_relaxed);
    wait([&] { return b.posted.load(std::memory_order_acquire) > taken; }, rank, r.rank);
    check(b.message.size() == r.data.size, fault::usage, "rank {} sends {} bytes to rank {}, which waits for {}",
          r.rank, b.message.size(), rank, r.data.size);
    if (r.data.size > 0) std::memcpy(r.data.data, b.message.data(), b.message.byte_count());
    b.taken.store(taken + 1, std::memory_order_release);
  }
  for (const outgoing& s : sends) {
    box& b = from_to(rank, s.rank);
    const std::uint64_t posted = b.posted.load(std::memory_order_relaxed);
    wait([&] { return b.taken.load(std::memory_order_acquire) == posted; }, rank, s.rank);
  }
}

} // namespace furrow
