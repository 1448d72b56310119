// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace furrow::dense {

/// How the CPU cuts a matrix: by the shape alone, so that every number of threads gives the same bits.
struct cpu_plan {
  index_t terms = 0; ///< of a piece of a sum; `pieces` of them make a sum
  index_t pieces = 1;
  index_t outputs = 0; ///< of a task; `tiles` of them make all outputs
  index_t tiles = 1;
  index_t tasks() const { return pieces * tiles; }
};

inline constexpr index_t few_tasks = 16, enough_tasks = 64, most_tasks = 512;
inline constexpr index_t task_bytes = 1 << 18;   ///< of A that a task of whole lines has
inline constexpr double least_line = 32;         ///< bytes that are read while a line is summed up, shorter ones too
inline constexpr index_t piece_bytes = 1 << 19;  ///< of A that a task has at least that leaves pieces of sums
inline constexpr index_t least_piece = 512;      ///< elements of a line that is cut to be shared out evenly
inline constexpr index_t cached_bytes = 1 << 19; ///< of a matrix that second caches hold
inline constexpr index_t least_run = 1024;       ///< bytes of a line there that a task has at least
inline constexpr index_t least_terms = 128;      ///< lines of a piece at least: its sums are written and read once more

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// As many tasks or fewer, so that 2, 4, 8 and 16 threads have equal shares.
constexpr index_t shared_evenly(index_t tasks) {
  return tasks < few_tasks ? index_t(std::bit_floor(std::uint64_t(tasks))) : tasks / few_tasks * few_tasks;
}

/// How many tasks `bytes` of A make that have so many bytes each; half as many where they are few, a quarter where
/// there are two.
constexpr index_t tasks_of(double bytes, index_t each) {
  const auto of = [&](index_t size) { return index_t(std::min(bytes / double(size), double(most_tasks))); };
  if (of(each) >= few_tasks) return shared_evenly(of(each));
  const index_t halves = std::min(of(each / 2), few_tasks);
  return halves == 0 ? 1 : std::max<index_t>(shared_evenly(halves), 2);
}

/// How many of `all` elements the busiest of so many threads has, where they are cut into parts of `each` and who has
/// none left takes one from the others.
constexpr index_t busiest(index_t all, index_t each, index_t threads) {
  const index_t full = (all - 1) / each, rest = all - full * each;
  const index_t most = ceil_div(full, threads) * each;
  return full % threads == 0 ? most + rest : std::max(most, full / threads * each + rest);
}

/// Whether the busiest of 2 threads, or of 4 where there are so many tasks, has no more than an eighth above its share.
constexpr bool is_fair(index_t all, index_t each, index_t tasks) {
  const auto fair_to = [&](index_t threads) { return 8 * threads * busiest(all, each, threads) <= 9 * all; };
  return tasks < 2 || (fair_to(2) && (tasks < 4 || fair_to(4)));
}

/// Lines of `length` elements of `size` bytes, each summed up. Few long lines are cut into pieces, as are some that
/// cannot be shared out evenly.
constexpr cpu_plan plan_along(index_t lines, index_t length, index_t size) {
  const index_t tasks = tasks_of(double(lines) * std::max(double(length) * double(size), least_line), task_bytes);
  cpu_plan p{length, 1, std::max<index_t>(4, lines), 1};
  if (tasks > 1) p.outputs = std::max<index_t>(4, (ceil_div(lines, tasks) + 2) / 4 * 4); // read four by four
  p.tiles = ceil_div(lines, p.outputs);
  index_t pieces = 1;
  if (p.tiles < enough_tasks)
    pieces =
        shared_evenly(std::clamp<index_t>(length * std::min(lines, p.outputs) / (piece_bytes / size), 1, enough_tasks));
  if (pieces == 1 && tasks <= few_tasks && length >= tasks * least_piece && !is_fair(lines, p.outputs, tasks)) {
    p.outputs = lines;
    p.tiles = 1;
    pieces = tasks;
  }
  if (pieces > 1) {
    p.terms = ceil_div(ceil_div(length, pieces), 64) * 64;
    p.pieces = ceil_div(length, p.terms);
  }
  return p;
}

/// Lines of `length` elements of `size` bytes, added up; `widest` outputs at most stay in the first cache.
constexpr cpu_plan plan_across(index_t lines, index_t length, index_t size, index_t widest) {
  const double bytes = double(lines) * double(length) * double(size);
  const index_t most_pieces = std::max<index_t>(lines / least_terms, 1);
  // Tiles as wide as they may be: a processor reads ahead in long runs only. In a cache that does not matter, and tiles
  // leave nothing to be added up. Nor are there other tasks than tiles where lines are few.
  cpu_plan p{lines, 1, std::min(length, widest), 1};
  p.tiles = ceil_div(length, p.outputs);
  const bool cached = bytes <= double(cached_bytes);
  if (bytes > 0 && (cached || most_pieces == 1)) {
    const index_t wanted =
        cached ? tasks_of(bytes, task_bytes) : index_t(std::min(bytes / double(piece_bytes), double(few_tasks)));
    p.tiles = std::max(p.tiles, std::min(wanted, length * size / least_run));
    if (p.tiles < few_tasks) p.tiles = index_t(std::bit_ceil(std::uint64_t(p.tiles)));
  }
  p.outputs = std::min(p.outputs, ceil_div(ceil_div(length, p.tiles), 64) * 64);
  if (p.tiles < enough_tasks) {
    const index_t most = std::min(ceil_div(enough_tasks, p.tiles), most_pieces);
    const index_t fit = std::min(tasks_of(double(lines) * double(p.outputs) * double(size), piece_bytes), most);
    p.terms = ceil_div(ceil_div(lines, shared_evenly(fit)), 8) * 8; // read eight by eight
    p.pieces = ceil_div(lines, p.terms);
  }
  return p;
}

} // namespace furrow::dense
