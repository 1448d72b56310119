// SPDX-License-Identifier: BSD-3-Clause
#include "thread_team.hpp"

#include "parallel.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace furrow::cpu {
namespace {

constexpr std::uint64_t bound_bits = 12, bound_mask = (1 << bound_bits) - 1;
constexpr index_t most_groups = thread_team::most;
static_assert(most_groups <= index_t(bound_mask));

constexpr std::uint64_t pack(std::uint64_t job, index_t first, index_t last) {
  return job << 2 * bound_bits | static_cast<std::uint64_t>(first) << bound_bits | static_cast<std::uint64_t>(last);
}
constexpr std::uint64_t job_of(std::uint64_t range) { return range >> 2 * bound_bits; }
constexpr index_t first_of(std::uint64_t range) { return static_cast<index_t>(range >> bound_bits & bound_mask); }
constexpr index_t last_of(std::uint64_t range) { return static_cast<index_t>(range & bound_mask); }

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waiting in three stages: watch the cache line; let others have the processor; give up.
class patience {
public:
  explicit patience(bool crowded) : crowded_(crowded) {}
  /// Waits a moment; false when it has been too long.
  bool wait() {
    using namespace std::chrono;
    relax();
    if (++turns_ % 64 == 0) {
      const auto now = steady_clock::now();
      if (turns_ == 64) began_ = now;
      else if (now - began_ > milliseconds(2)) return false;
      yields_ = crowded_ || now - began_ > microseconds(200);
    }
    if (yields_) std::this_thread::yield();
    return true;
  }

private:
  const bool crowded_;
  bool yields_ = false;
  unsigned turns_ = 0;
  std::chrono::steady_clock::time_point began_;
};

} // namespace

thread_team::thread_team(int size, bool crowded, std::function<bool(int)> start_worker)
    : size_(size), crowded_(crowded), start_worker_(std::move(start_worker)), shares_(std::make_unique<share[]>(size)) {
}

bool thread_team::run(index_t count, task_function task, void* context, bool turning) {
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  publish(count, task, context, turning && turns_back(task));
  start_workers();
  finish();
  return true;
}

/// Whether a loop that turns runs backwards this time. Always forwards where there is no memory to note it.
bool thread_team::turns_back(task_function task) noexcept {
  try {
    bool& next = next_backwards_[task];
    return std::exchange(next, !next);
  } catch (...) {
    return false;
  }
}

/// Two at most: to wake a thread takes as long as a small job, and those who wake go on hiring.
void thread_team::start_workers() noexcept {
  const int wanted = wanted_.load(std::memory_order_relaxed);
  int hired = 0;
  for (int id = 1; id < wanted && hired < 2; ++id)
    if (!shares_[id].present.load() && !shares_[id].present.exchange(true)) {
      if (!start_worker_(id)) return shares_[id].present.store(false);
      ++hired;
    }
}

void thread_team::publish(index_t count, task_function task, void* context, bool backwards) {
  const index_t groups = std::min(count, most_groups);
  const int wanted = static_cast<int>(std::min<index_t>(size_, groups));
  const std::uint64_t job = job_.load(std::memory_order_relaxed) + 1;
  task_.store(task, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  count_.store(count, std::memory_order_relaxed);
  groups_.store(groups, std::memory_order_relaxed);
  backwards_.store(backwards, std::memory_order_relaxed);
  wanted_.store(wanted, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  for (int id = 0; id < wanted; ++id)
    shares_[id].range.store(pack(job, part_begin(groups, wanted, id), part_begin(groups, wanted, id + 1)),
                            std::memory_order_release);
  job_.store(job); // sequentially consistent, as are `present` and the helper's last look: one of the two sides sees
}

void thread_team::finish() {
  work(0, job_.load(std::memory_order_relaxed));
  const index_t groups = groups_.load(std::memory_order_relaxed);
  patience p(crowded_);
  while (done_.load(std::memory_order_acquire) != groups)
    if (!p.wait()) std::this_thread::yield(); // someone is inside a task: that one has to end
  const std::exception_ptr failure = failed_ ? std::move(failure_) : nullptr;
  failure_ = nullptr;
  failed_ = false;
  busy_.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

void thread_team::worker_loop(int id) noexcept {
  start_workers();
  std::uint64_t seen = 0;
  for (;;) {
    patience p(crowded_);
    bool waiting = true;
    while (waiting && job_.load(std::memory_order_acquire) == seen) waiting = p.wait();
    if (!waiting) {
      shares_[id].present.store(false);
      // A job that came meanwhile may have seen this helper present.
      if (job_.load() == seen || shares_[id].present.exchange(true)) return;
    }
    seen = job_.load(std::memory_order_acquire);
    if (id < wanted_.load(std::memory_order_relaxed)) work(id, seen);
  }
}

void thread_team::work(int id, std::uint64_t job) {
  job &= ~std::uint64_t(0) >> 2 * bound_bits;
  const bool backwards = backwards_.load(std::memory_order_relaxed);
  index_t ran = run_groups_of(id, job, !backwards);
  for (int k = 1; k < size_; ++k) ran += run_groups_of((id + k) % size_, job, backwards);
  if (ran) done_.fetch_add(ran, std::memory_order_acq_rel);
}

index_t thread_team::run_groups_of(int owner, std::uint64_t job, bool from_front) {
  std::atomic<std::uint64_t>& range = shares_[owner].range;
  index_t ran = 0;
  std::uint64_t now = range.load(std::memory_order_acquire);
  for (;;) {
    const index_t first = first_of(now), last = last_of(now);
    if (job_of(now) != job || first >= last) return ran;
    const task_function task = task_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    const index_t count = count_.load(std::memory_order_relaxed), groups = groups_.load(std::memory_order_relaxed);
    const std::uint64_t left = from_front ? pack(job, first + 1, last) : pack(job, first, last - 1);
    if (!range.compare_exchange_weak(now, left, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    now = left;
    const index_t group = from_front ? first : last - 1;
    ++ran;
    if (failed_.load(std::memory_order_relaxed)) continue;
    try {
      const index_t end = part_begin(count, groups, group + 1);
      for (index_t k = part_begin(count, groups, group); k < end; ++k) task(context, k);
    } catch (...) {
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
  }
}

} // namespace furrow::cpu
