// SPDX-License-Identifier: BSD-3-Clause
#include "staging.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

namespace furrow::gpu {
namespace {

constexpr std::size_t piece = std::size_t(4) << 20;
constexpr int pieces = 3;

/// Pinned memory for a device, by one copy at a time. Stays until the end.
class stage {
public:
  static stage& of(int ordinal) {
    static auto& guard = *new std::mutex;
    static auto& stages = *new std::map<int, stage>;
    const std::lock_guard lock(guard);
    return stages[ordinal];
  }

  /// With this device as the current one. False where it cannot be had, which is asked once.
  bool begin() {
    if (!asked_) {
      asked_ = true;
      for (runtime::event& e : moved_) check(runtime::make_event(&e));
      void* all = nullptr;
      if (runtime::take_pinned(&all, piece * pieces) == runtime::success) room_ = static_cast<char*>(all);
      else runtime::last_failure();
    }
    return room_ != nullptr;
  }
  /// The next piece, once what was there is where it goes.
  std::size_t take() {
    const std::size_t k = next_++;
    check(runtime::wait(moved(k)));
    return k;
  }
  char* room(std::size_t k) const { return room_ + k % pieces * piece; }
  runtime::event moved(std::size_t k) const { return moved_[k % pieces]; } ///< piece k is where it goes
  std::mutex busy;

private:
  bool asked_ = false;
  char* room_ = nullptr;
  std::size_t next_ = 0;
  std::array<runtime::event, pieces> moved_{};
};

/// Pinned memory of a device for little that is sent there: nobody waits, neither for what is enqueued before it nor
/// for who had the place before, on a stream that may wait for this thread. Stays until the end.
class letters {
public:
  static constexpr std::size_t most = std::size_t(16) << 10; ///< bytes of one
  static letters& of(int ordinal) {
    static auto& guard = *new std::mutex;
    static auto& all = *new std::map<int, letters>;
    const std::lock_guard lock(guard);
    return all[ordinal];
  }
  /// False where the next place is not free yet, or where pinned memory cannot be had, which is asked once.
  bool send(std::span<const transfer> all, const queue& q) {
    const std::lock_guard alone(busy_);
    if (!begin()) return false;
    const std::size_t k = next_ % count;
    if (!runtime::is_over(sent_[k])) return false;
    ++next_;
    char* at = room_ + k * most;
    for (const transfer& t : all) {
      if (t.bytes == 0) continue;
      std::memcpy(at, t.from, t.bytes);
      check(runtime::copy(t.to, at, t.bytes, runtime::way::to_device, q.stream));
      at += t.bytes;
    }
    check(runtime::record(sent_[k], q.stream));
    return true;
  }

private:
  static constexpr std::size_t count = 16;
  bool begin() {
    if (!asked_) {
      asked_ = true;
      for (runtime::event& e : sent_) check(runtime::make_event(&e));
      void* all = nullptr;
      if (runtime::take_pinned(&all, most * count) == runtime::success) room_ = static_cast<char*>(all);
      else runtime::last_failure();
    }
    return room_ != nullptr;
  }

  std::mutex busy_;
  bool asked_ = false;
  char* room_ = nullptr;
  std::size_t next_ = 0;
  std::array<runtime::event, count> sent_{};
};

void copy_by_all_threads(char* to, const char* from, std::size_t bytes) {
  constexpr index_t unit = 4096; // bytes: whole pages but for the ends
  const auto units = static_cast<index_t>((bytes + unit - 1) / unit);
  cpu::for_each_range(units, 16, [&](index_t first, index_t last) {
    const auto begin = static_cast<std::size_t>(first * unit),
               end = std::min(bytes, static_cast<std::size_t>(last * unit));
    std::memcpy(to + begin, from + begin, end - begin);
  });
}

std::size_t count_of(std::size_t bytes) { return (bytes + piece - 1) / piece; }
std::size_t size_of(std::size_t k, std::size_t bytes) { return std::min(piece, bytes - k * piece); }

} // namespace

namespace {

/// False: not done, because pinned memory cannot be had. Does not wait: what is on its way lies in the stage.
bool send_staged(std::span<const transfer> all, std::size_t total, queue& q) {
  stage& s = stage::of(q.ordinal);
  const std::lock_guard alone(s.busy);
  if (!s.begin()) return false;
  // A few pieces, so that one is filled while another one is on its way.
  const std::size_t most = std::clamp(total / 4, sent_staged_from, piece);
  for (const transfer& t : all)
    for (std::size_t at = 0; at < t.bytes; at += most) {
      const std::size_t k = s.take(), size = std::min(most, t.bytes - at);
      copy_by_all_threads(s.room(k), static_cast<const char*>(t.from) + at, size);
      check(runtime::copy(static_cast<char*>(t.to) + at, s.room(k), size, runtime::way::to_device, q.stream));
      check(runtime::record(s.moved(k), q.stream));
    }
  return true;
}

} // namespace

void send_together(std::span<const transfer> all, queue& q) {
  std::size_t total = 0;
  for (const transfer& t : all) total += t.bytes;
  if (total == 0) return;
  *q.moved += static_cast<std::int64_t>(total);
  // A queue that is alone may be full of kernels that wait for another rank, which would wait for the place here.
  const bool is_little = total <= letters::most && !q.is_alone() && !is_recorded(q.stream);
  if (is_little && letters::of(q.ordinal).send(all, q)) return;
  const bool pageable =
      std::ranges::all_of(all, [](const transfer& t) { return t.bytes == 0 || runtime::is_pageable(t.from); });
  if (total >= sent_staged_from && pageable && send_staged(all, total, q)) return;
  for (const transfer& t : all)
    if (t.bytes) check(runtime::copy(t.to, t.from, t.bytes, runtime::way::to_device, q.stream));
  wait(q); // the source may go away
}

bool fetch_staged(void* to, const void* from, std::size_t bytes, queue& q) {
  stage& s = stage::of(q.ordinal);
  const std::lock_guard alone(s.busy);
  if (!s.begin()) return false;
  for (std::size_t k = 0; k < pieces; ++k) check(runtime::wait(s.moved(k)));
  const std::size_t count = count_of(bytes);
  for (std::size_t k = 0; k < count + pieces - 1; ++k) {
    if (k >= pieces - 1) { // the piece that has been under way longest
      const std::size_t done = k - (pieces - 1);
      check(runtime::wait(s.moved(done)));
      copy_by_all_threads(static_cast<char*>(to) + done * piece, s.room(done), size_of(done, bytes));
    }
    if (k >= count) continue;
    check(runtime::copy(s.room(k), static_cast<const char*>(from) + k * piece, size_of(k, bytes), runtime::way::to_host,
                        q.stream));
    check(runtime::record(s.moved(k), q.stream));
  }
  return true;
}

} // namespace furrow::gpu
