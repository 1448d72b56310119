// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <unordered_map>

namespace furrow::cpu {

/// Threads that stay awake between the passes of a solver.
///
/// A pass over a matrix that fits the caches takes some 10 us; to wake a thread takes as long. So a helper that has
/// finished its share watches for the next job for about two milliseconds before it hands its thread back.
///
/// A job is cut into groups of tasks, and each participant owns a contiguous range of groups: the same thread sees the
/// same part of a matrix in every pass, and keeps it in its own cache. It takes groups from the front of its range; who
/// has none left takes from the back of others' ranges. The caller takes part too and waits for nobody who has not
/// begun: a job ends even if no helper ever comes.
class thread_team {
public:
  using task_function = void (*)(void* context, index_t k);
  static constexpr int most = 4095; ///< participants: no job has more groups

  /// `size` participants, the caller included. `start_worker(id)` must have worker_loop(id) called by another thread,
  /// now or later, or return false; it must not throw. `crowded`: there are more participants than processors, so that
  /// who waits must yield.
  thread_team(int size, bool crowded, std::function<bool(int id)> start_worker);

  /// Runs all tasks and returns true; or returns false at once where another thread's job is running.
  /// The first exception that a task throws is thrown again here.
  /// turning: every other time that the same loop comes it runs backwards, and so begins with what the pass before has
  /// left in the caches.
  bool run(index_t count, task_function task, void* context, bool turning = false);

  /// The life of a helper; returns when there was nothing to do for a while.
  void worker_loop(int id) noexcept;

private:
  /// The groups that a participant owns, in one word with the number of the job, so that a claim is one exchange and
  /// fails when it comes too late: 12 bits first, 12 bits last, 40 bits job.
  struct alignas(64) share {
    std::atomic<std::uint64_t> range{0};
    std::atomic<bool> present{false};
  };

  void publish(index_t count, task_function task, void* context, bool backwards);
  void start_workers() noexcept;
  bool turns_back(task_function task) noexcept;
  void finish();
  void work(int id, std::uint64_t job);
  index_t run_groups_of(int owner, std::uint64_t job, bool from_front);

  const int size_;
  const bool crowded_;
  const std::function<bool(int)> start_worker_;
  const std::unique_ptr<share[]> shares_;
  // What the job is. Written before its ranges; a reader that then claims a group has read this job's.
  alignas(64) std::atomic<std::uint64_t> job_{0};
  std::atomic<task_function> task_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<index_t> count_{0}, groups_{0};
  std::atomic<int> wanted_{0};
  std::atomic<bool> backwards_{false};
  alignas(64) std::atomic<index_t> done_{0}; ///< groups
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
  alignas(64) std::atomic<bool> busy_{false};
  std::unordered_map<task_function, bool> next_backwards_; ///< of each loop that turns; belongs to who is busy
};

} // namespace furrow::cpu
