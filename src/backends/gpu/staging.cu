// SPDX-License-Identifier: BSD-3-Clause
#include "staging.hpp"

#include "stage.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace furrow::gpu {
namespace {

void write_part(const transfer& t, char* room, std::size_t at, std::size_t size) {
  if (t.write) t.write(room, at, size);
  else std::memcpy(room, static_cast<const char*>(t.from) + at, size);
}

/// Throws where the device is lost.
bool is_over(runtime::event e) {
  const runtime::code c = runtime::look_at(e);
  if (c == runtime::not_ready) return false;
  check(c);
  return true;
}

/// For little that is sent there: nobody waits, neither for what is enqueued before it nor for who had the place
/// before, on a stream that may wait for this thread.
class letters : public pinned_pieces<letters, std::size_t(16) << 10, 16> {
public:
  /// False where the next place is not free yet, or where pinned memory cannot be had.
  bool send(std::span<const transfer> all, const queue& q) {
    const std::lock_guard alone(busy);
    if (!begin() || !is_over(moved(next()))) return false;
    const runtime::event sent = moved(next());
    char* at = room(next());
    took(1);
    for (const transfer& t : all) {
      if (t.bytes == 0) continue;
      write_part(t, at, 0, t.bytes);
      check(runtime::copy(t.to, at, t.bytes, runtime::way::to_device, q.stream));
      at += t.bytes;
    }
    check(runtime::record(sent, q.stream));
    return true;
  }
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

std::size_t size_of(std::size_t k, std::size_t bytes) { return std::min(stage::piece, bytes - k * stage::piece); }

/// As it lies, or as it is made: the driver takes it, and the source stays until that is over.
void send_unstaged(std::span<const transfer> all, queue& q) {
  std::vector<host_array<char>> made;
  for (const transfer& t : all) {
    if (!t.bytes) continue;
    const void* from = t.from;
    if (t.write) {
      from = made.emplace_back(static_cast<index_t>(t.bytes)).data();
      t.write(made.back().data(), 0, t.bytes);
    }
    check(runtime::copy(t.to, from, t.bytes, runtime::way::to_device, q.stream));
  }
  wait(q);
}

/// Pieces of several copies on their way through the stage. All threads write units of them, in order, into room that
/// is free; the thread that sends, for which the device is the current one, enqueues pieces that are full.
class sending {
public:
  sending(std::span<const transfer> all, std::size_t most, stage& s, const queue& q)
      : stage_(s), queue_(q), base_(s.next()), units_(most / transfer{}.unit) {
    for (const transfer& t : all)
      for (std::size_t at = 0; at < t.bytes; at += t.unit * units_)
        parts_.push_back({&t, at, std::min(t.unit * units_, t.bytes - at)});
    // Side by side: what some are made of is read while what others are is on its way.
    std::ranges::stable_sort(parts_, {}, [](const part& p) { return double(p.at) / double(p.of->bytes); });
    left_ = std::vector<std::atomic<std::size_t>>(parts_.size());
    for (std::size_t k = 0; k < parts_.size(); ++k) left_[k] = units_;
  }

  void run() {
    const auto caller = std::this_thread::get_id();
    cpu::for_each_task(cpu::thread_count(), [&](index_t) {
      try {
        if (std::this_thread::get_id() == caller) send();
        else write_all();
      } catch (...) {
        stopped_ = true;
        throw;
      }
    });
    send(); // what is left where another thread had the task of this one
    stage_.took(parts_.size());
  }

private:
  struct part {
    const transfer* of;
    std::size_t at, size;
  };
  enum class written { one, none_yet, all };

  void write_all() {
    for (;;) {
      const written w = write_one();
      if (w == written::all || stopped_.load(std::memory_order_relaxed)) return;
      if (w == written::none_yet) std::this_thread::yield();
    }
  }

  /// The next unit, once there is room for it.
  written write_one() {
    std::size_t unit = next_.load(std::memory_order_relaxed);
    do {
      if (unit >= parts_.size() * units_) return written::all;
      if (unit / units_ >= open_.load(std::memory_order_acquire)) return written::none_yet;
    } while (!next_.compare_exchange_weak(unit, unit + 1, std::memory_order_relaxed));
    const std::size_t k = unit / units_;
    const part& p = parts_[k];
    const std::size_t in = unit % units_ * p.of->unit;
    if (in < p.size) write_part(*p.of, stage_.room(base_ + k) + in, p.at + in, std::min(p.of->unit, p.size - in));
    left_[k].fetch_sub(1, std::memory_order_acq_rel);
    return written::one;
  }

  void send() {
    while (sent_ < parts_.size() && !stopped_.load(std::memory_order_relaxed))
      if (!enqueue_full_one() && !open_one() && write_one() != written::one) std::this_thread::yield();
  }
  bool enqueue_full_one() {
    if (left_[sent_].load(std::memory_order_acquire) != 0) return false;
    const part& p = parts_[sent_];
    const std::size_t k = base_ + sent_++;
    check(runtime::copy(static_cast<char*>(p.of->to) + p.at, stage_.room(k), p.size, runtime::way::to_device,
                        queue_.stream));
    check(runtime::record(stage_.moved(k), queue_.stream));
    return true;
  }
  /// Room for one piece more, where what was there is where it goes.
  bool open_one() {
    const std::size_t k = open_.load(std::memory_order_relaxed);
    if (k == parts_.size() || k >= sent_ + stage::pieces || !is_over(stage_.moved(base_ + k))) return false;
    open_.store(k + 1, std::memory_order_release);
    return true;
  }

  stage& stage_;
  const queue& queue_;
  const std::size_t base_, units_; ///< of the stage's pieces, the first one; in a piece
  std::vector<part> parts_;
  std::vector<std::atomic<std::size_t>> left_; ///< units of a piece that are not written
  std::size_t sent_ = 0;
  alignas(64) std::atomic<std::size_t> next_ = 0; ///< unit
  alignas(64) std::atomic<std::size_t> open_ = 0; ///< pieces before it may be written
  std::atomic<bool> stopped_ = false;
};

} // namespace

bool send_staged(std::span<const transfer> all, queue& q) {
  stage& s = stage::of(q.ordinal);
  const std::lock_guard alone(s.busy);
  if (!s.begin()) return false;
  std::size_t total = 0;
  for (const transfer& t : all) total += t.bytes;
  // A few pieces, so that one is written while another one is on its way.
  constexpr std::size_t least = std::size_t(64) << 10;
  sending(all, std::clamp(total / 8 / least * least, least, stage::piece), s, q).run();
  return true;
}

void send_together(std::span<const transfer> all, queue& q) {
  std::size_t total = 0;
  for (const transfer& t : all) total += t.bytes;
  if (total == 0) return;
  *q.moved += static_cast<std::int64_t>(total);
  // A queue that is alone may be full of kernels that wait for another rank, which would wait for the place here.
  const bool is_little = total <= letters::piece && !q.is_alone() && !is_recorded(q.stream);
  if (is_little && letters::of(q.ordinal).send(all, q)) return;
  const bool pageable = std::ranges::all_of(
      all, [](const transfer& t) { return t.bytes == 0 || t.write || runtime::is_pageable(t.from); });
  if (total < sent_staged_from || !pageable || !send_staged(all, q)) send_unstaged(all, q);
}

bool fetch_staged(void* to, const void* from, std::size_t bytes, queue& q) {
  stage& s = stage::of(q.ordinal);
  const std::lock_guard alone(s.busy);
  if (!s.begin()) return false;
  constexpr std::size_t piece = stage::piece, behind = stage::pieces - 1;
  for (std::size_t k = 0; k < stage::pieces; ++k) check(runtime::wait(s.moved(k)));
  const std::size_t count = (bytes + piece - 1) / piece;
  for (std::size_t k = 0; k < count + behind; ++k) {
    if (k >= behind) { // the piece that has been under way longest
      const std::size_t done = k - behind;
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
