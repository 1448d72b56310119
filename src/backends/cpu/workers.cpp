// SPDX-License-Identifier: BSD-3-Clause
#include "workers.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

namespace furrow::cpu {
namespace {

/// Address space of a thread: what threads get where the system sets no limit to stacks. The usual 8 MiB would count
/// against a limit of address space.
constexpr std::size_t stack_bytes = std::size_t(2) << 20;

bool start_thread(void* (*begin)(void*), void* argument) {
  pthread_attr_t wishes;
  if (pthread_attr_init(&wishes) != 0) return false;
  pthread_attr_setdetachstate(&wishes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&wishes, stack_bytes);
  pthread_t unused{};
  const bool started = pthread_create(&unused, &wishes, begin, argument) == 0;
  pthread_attr_destroy(&wishes);
  return started;
}

} // namespace

int processors() {
  for (int most = 1024; most <= 1 << 20; most *= 4) { // machines larger than cpu_set_t
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    const std::unique_ptr<cpu_set_t, decltype(&std::free)> set(static_cast<cpu_set_t*>(std::calloc(1, bytes)),
                                                               &std::free);
    if (set && sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
  }
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int workers::grow_to(int count) {
  const std::lock_guard lock(mutex_);
  while (count_ < count && start_thread(begin, this)) ++count_;
  return std::min(count_, count);
}

bool workers::post(job work) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return false;
    waiting_.push_back(std::move(work));
  } catch (...) {
    return false;
  }
  bell_.notify_one();
  return true;
}

bool workers::post_to_sleeper(job work) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (asleep_ <= static_cast<int>(waiting_.size())) return false;
    waiting_.push_back(std::move(work));
  } catch (...) {
    return false;
  }
  bell_.notify_one();
  return true;
}

void* workers::begin(void* pool) {
  static_cast<workers*>(pool)->live();
  return nullptr;
}

void workers::live() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++asleep_;
    bell_.wait(lock, [&] { return !waiting_.empty(); });
    --asleep_;
    const job work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

} // namespace furrow::cpu
