// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/entry_tile.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace furrow {

/// All elements <- 0. Parallel.
template <class T> void clear(host_array<T>& a) {
  cpu::for_each_range(a.size(), 1 << 16,
                      [&](index_t first, index_t last) { std::fill(a.begin() + first, a.begin() + last, T(0)); });
}

/// Which diagonals have entries, noted by several threads: each in marks of its own where these are small, for a
/// diagonal that nobody has met costs a mispredicted branch, and a line that another thread has; otherwise all in one.
class diagonal_marks {
public:
  /// Of a matrix with entries, which has `shape.rows + shape.cols - 1` diagonals.
  diagonal_marks(shape2 shape, index_t nnz) : main_(shape.rows - 1), diagonals_(shape.rows + shape.cols - 1) {
    constexpr index_t small = index_t(1) << 20; // for a second cache
    alone_ = diagonals_ <= small && cpu::thread_count() * diagonals_ <= nnz;
    if (alone_) return;
    marks_.emplace_back(diagonals_);
    clear(marks_.front());
  }
  /// f(marks) with those of this thread; marks[0] is that of the main diagonal.
  template <class F> void with(F f) {
    char* const own = alone_ ? take() : marks_.front().data();
    f(own + main_);
    if (alone_) give_back(own);
  }
  /// Notes those of a tile in `marks`; ahead(k) before every eight of its entries.
  template <class Ahead> void note(const entry_tile& t, char* marks, Ahead ahead) const {
    constexpr index_t together = 8;
    const std::int32_t* const offset = t.offset.data();
    const auto put = [&](index_t k) { std::atomic_ref(marks[offset[k]]).store(1, std::memory_order_relaxed); };
    const auto is_there = [&](index_t k) {
      return static_cast<int>(std::atomic_ref(marks[offset[k]]).load(std::memory_order_relaxed));
    };
    index_t k = 0;
    for (; alone_ && k + together <= t.count; k += together) {
      ahead(k);
      for (index_t i = k; i < k + together; ++i) put(i);
    }
    // Read before it is written: threads that write one place take its line from one another, 40 ms of poisson3d:100.
    for (; k + together <= t.count; k += together) {
      ahead(k);
      int all = 1;
      for (index_t i = k; i < k + together; ++i) all &= is_there(i);
      for (index_t i = k; !all && i < k + together; ++i) put(i);
    }
    for (; k < t.count; ++k)
      if (!is_there(k)) put(k);
  }
  /// Diagonals that were noted. Parallel.
  index_t count() const {
    constexpr index_t part = 1 << 15;
    std::atomic<index_t> all = 0;
    cpu::for_each_task((diagonals_ + part - 1) / part,
                       [&](index_t k) { all += count(k * part, std::min(diagonals_, (k + 1) * part)); });
    return all;
  }

private:
  index_t count(index_t first, index_t last) const {
    constexpr std::size_t together = 128; // marks that a byte counts
    index_t sum = 0;
    cpu::widest([&]() FURROW_INLINE {
      for (index_t at = first; at < last; at += together) {
        std::array<unsigned char, together> any{};
        const index_t several = std::min<index_t>(together, last - at);
        for (const host_array<char>& one : marks_)
          for (index_t i = 0; i < several; ++i) any[i] |= static_cast<unsigned char>(one[at + i]);
        unsigned some = 0;
        for (const unsigned char one : any) some += one;
        sum += some;
      }
    });
    return sum;
  }
  char* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      host_array<char>& one = marks_.emplace_back(diagonals_);
      std::fill(one.begin(), one.end(), char(0));
      return one.data();
    }
    char* const one = free_.back();
    free_.pop_back();
    return one;
  }
  void give_back(char* one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(one);
  }

  index_t main_, diagonals_;
  bool alone_;
  std::vector<host_array<char>> marks_;
  std::vector<char*> free_; ///< of those, where nobody is at them
  std::mutex mutex_;
};

} // namespace furrow
