// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace furrow::cpu {

/// Processors that this process may run on.
int processors();

/// A pool of threads that sleep until there is a job. They live as long as the process.
///
/// A thread that the system refuses (a limit of processes, of a control group, of address space) is missing and nothing
/// else: libraries that start threads where a loop needs them end the process then.
class workers {
public:
  using job = std::function<void()>;

  /// Starts threads until there are `count`, or until the system grants no more. Returns how many of them there are.
  int grow_to(int count);

  /// Has a thread call `work`, which must not throw, now or when one is free. False where there is none at all, or no
  /// memory for the note.
  bool post(job work) noexcept;
  /// The same where a thread sleeps; false where none does.
  bool post_to_sleeper(job work) noexcept;

private:
  static void* begin(void* pool);
  void live();

  std::mutex mutex_;
  std::condition_variable bell_;
  std::deque<job> waiting_;
  int count_ = 0, asleep_ = 0;
};

} // namespace furrow::cpu
