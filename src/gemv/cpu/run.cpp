// SPDX-License-Identifier: BSD-3-Clause
#include "../call.hpp"
#include "across.hpp"
#include "along.hpp"
#include "plan.hpp"

#include "backends/cpu/parallel.hpp"
#include "backends/cpu/store_nontemporal.hpp"

#include <furrow/array.hpp>

#include <cstdint>

namespace furrow::dense {
namespace {

inline constexpr index_t most_tiled = 32768; ///< bytes of the sums that a task of `across` keeps, of all vectors

/// Outputs of such a task.
template <class S> constexpr index_t widest_tile(int count) {
  return most_tiled / index_t(sizeof(S)) / (count == 1 ? 1 : count == 2 ? 2 : 8);
}
static_assert(8 * widest_tile<double>(8) * 8 <= most_tiled);
inline constexpr index_t most_lines = 256;     ///< of a block of a matrix that is not gone over whole
inline constexpr index_t lines_at_once = 16;   ///< that stay in the first caches while all vectors go over them
inline constexpr index_t bytes_at_once = 8192; ///< or more lines, where these are short

inline constexpr double far_from = 1 << 25;   ///< bytes of a matrix, a part of which comes from memory
inline constexpr double far_output = 1 << 23; ///< bytes of y beside such a matrix that leave the caches again

inline constexpr index_t most_converted = 4096; ///< numbers of a block, which stays in the first cache

/// body(some, apart, first, lines, k, n) for lines [first, first + lines) and elements [k, k + n) of a matrix: `some`
/// is where these begin as numbers that sums are made of, `apart` from line to line. Where A has such numbers, blocks
/// have up to `at_once` lines and `part` elements; others are converted, four lines or more at a time.
template <class S, class T, class F>
FURROW_INLINE inline void for_each_block(const T* a, index_t leading, index_t all_lines, index_t all, index_t at_once,
                                         index_t part, bool far, const F& body) {
  constexpr bool converted = !std::is_same_v<S, T>;
  [[maybe_unused]] const bool ahead = far && cpu::fetching_ahead_helps();
  alignas(64) S room[converted ? most_converted : 1]; // NOLINT: written before it is read
  if constexpr (converted) {
    part = std::min(all, most_converted / 4);
    at_once = std::min(most_lines, most_converted / std::max<index_t>(part, 1) / 4 * 4);
  }
  for (index_t first = 0; first < all_lines; first += at_once)
    for (index_t k = 0; k < all; k += part) {
      const index_t lines = std::min(at_once, all_lines - first), n = std::min(part, all - k);
      const T* const from = a + first * leading + k;
      if constexpr (converted) {
        const index_t runs = leading == n ? 1 : lines, run = lines * n / runs;
        constexpr index_t some = 256; // between which what comes next is asked for
        for (index_t i = 0; i < runs; ++i)
          for (index_t begin = 0; begin < run; begin += some) {
            const T* const now = from + i * leading + begin;
            if (ahead) cpu::prefetch(now, some * index_t(sizeof(T)));
#pragma omp simd
            for (index_t j = 0; j < std::min(some, run - begin); ++j)
              room[i * run + begin + j] = static_cast<vector_value<T>>(now[j]);
          }
        body(room, n, first, lines, k, n);
      } else {
        body(from, leading, first, lines, k, n);
      }
    }
}

/// out[r * lines + i] for the lines of one task and one piece of their sums. One vector takes whole lines; several take
/// parts of them that stay in a cache while all vectors go over them. (One call for both: its loops are compiled once.)
template <class S, class T>
void along_task(const T* a, index_t leading, index_t lines, const S* x, index_t x_next, index_t n, int count, bool far,
                S* out) {
  cpu::widest_registers([&](auto bytes) FURROW_INLINE {
    const bool whole = count == 1 && std::is_same_v<S, T>;
    if (!whole || n == 0) std::fill_n(out, count * lines, S(0));
    S share[most_lines]; // NOLINT: written before it is read
    for_each_block<S>(
        a, leading, lines, n, whole ? lines : lines_at_once, whole ? n : 2048, far,
        [&](const S* from, index_t apart, index_t first, index_t some, index_t k, index_t width) FURROW_INLINE {
          for (int r = 0; r < count; ++r) {
            sums_along<bytes.value>(from, apart, some, x + r * x_next + k, width, far && whole, whole ? out : share);
            for (index_t i = 0; i < some && !whole; ++i) out[r * lines + first + i] += share[i];
          }
        });
  });
}

/// Where sums begin in `room`, which has a page more than they need: half a page away from the lines that are added to
/// them. Where sums lie up to two cache lines ahead of a line, as places in their pages go, its loads wait for stores
/// that are taken to be to the same address. Lines of whole pages, as those of most squares, all lie alike.
template <class S> S* half_a_page_from(const void* lines, S* room) {
  constexpr std::uintptr_t page = 4096, cache_line = 64;
  const auto wanted = reinterpret_cast<std::uintptr_t>(lines) + page / 2,
             begin = reinterpret_cast<std::uintptr_t>(room);
  return room + (wanted - begin) % page / cache_line * cache_line / sizeof(S);
}

/// out[r * n + k], for the columns of one task and one piece of their sums. One vector takes all lines; several take
/// lines that stay in the first caches while all vectors go over them.
template <class S, class T>
void across_task(const T* a, index_t leading, index_t lines, const S* x, index_t x_next, index_t n, int count, bool far,
                 S* out) {
  cpu::widest_registers([&](auto bytes) FURROW_INLINE {
    std::fill_n(out, count * n, S(0));
    const bool whole = count == 1 && std::is_same_v<S, T>;
    const index_t at_once = whole ? lines : std::max(lines_at_once, bytes_at_once / (n * index_t(sizeof(T))) / 8 * 8);
    for_each_block<S>(
        a, leading, lines, n, at_once, n, far,
        [&](const S* from, index_t apart, index_t first, index_t some, index_t k, index_t width) FURROW_INLINE {
          for (int r = 0; r < count; ++r)
            add_lines<bytes.value>(from, apart, some, x + r * x_next + first, width, far && whole, out + r * n + k);
        });
  });
}

/// y <- alpha sum + beta y for n neighbouring outputs of one vector; `sum` is spent. far: y leaves the caches.
template <class S, class T> void put_all(const call<T>& c, S* sum, vector_value<T>* y, index_t n, bool far) {
  if constexpr (std::is_same_v<S, vector_value<T>>)
    if (far && c.beta == S(0) && c.y_stride == 1) {
      for (index_t i = 0; i < n; ++i) sum[i] *= c.alpha;
      return cpu::store_nontemporal(y, sum, n);
    }
  if (c.beta == vector_value<T>(0) && c.y_stride == 1) // what `put` does, by vectors: nothing is read meanwhile
    for (index_t i = 0; i < n; ++i) y[i] = static_cast<vector_value<T>>(S(c.alpha) * sum[i]);
  else
    for (index_t i = 0; i < n; ++i) put(c.alpha, sum[i], c.beta, y[i * c.y_stride]);
}

/// Whether a few lines are added up and go to y at once.
template <class S, class T> bool puts_few_lines(const call<T>& c) {
  return std::is_same_v<S, T> && c.across && c.count == 1 && c.lines > 0 && c.lines <= few_lines && c.y_stride == 1;
}

/// Problem b of a batch, cut as `p` says. `each(n, streamed, body)` calls body(k) for every k in [0, n); `streamed` as
/// cpu::for_each_task has it.
template <class S, class T, class Each>
void run_problem(const call<T>& c, const cpu_plan& p, index_t b, const Each& each) {
  using V = vector_value<T>;
  const index_t terms = c.terms(), outputs = c.outputs();
  const T* const a = c.a_of(b);
  const V* const given = c.x_of(b);
  V* const y = c.y_of(b);
  const bool direct = c.x_stride == 1 && std::is_same_v<S, V>;
  host_array<S> packed(direct ? 0 : terms * c.count); // vector r without gaps from r * terms on, as sums are made of it
  if (!direct) {
    constexpr index_t grain = 1 << 14;
    each(ceil_div(terms, grain) * c.count, 0, [&](index_t part) {
      const index_t r = part % c.count, first = part / c.count * grain, last = std::min(terms, first + grain);
      for (index_t k = first; k < last; ++k) packed[r * terms + k] = given[k * c.x_stride + r * c.x_next];
    });
  }
  const S* x = packed.data();
  if constexpr (std::is_same_v<S, V>)
    if (direct) x = given;
  const index_t x_next = direct ? c.x_next : terms;
  // The sums of a piece lie tile by tile, inside a tile vector by vector. A few are kept from call to call: fresh pages
  // cost as much as the product of a matrix that is in a cache. Taken away while in use, for a thread that waits here
  // may begin another product.
  constexpr index_t most_kept = (4 << 20) / sizeof(S);
  thread_local host_array<S> kept;
  const index_t partial = p.pieces > 1 ? p.pieces * outputs * c.count : 0;
  const bool keeps = partial > 0 && partial <= most_kept;
  host_array<S> sums;
  if (keeps) std::swap(sums, kept);
  sums.resize(partial);
  const auto sums_of = [&](index_t piece, index_t tile) {
    return sums.data() + (piece * outputs + tile * p.outputs) * c.count;
  };
  const auto tile_size = [&](index_t tile) { return std::min(p.outputs, outputs - tile * p.outputs); };
  const double bytes = double(c.lines) * double(c.length) * double(sizeof(T));
  const bool far = bytes > far_from, far_y = far && double(outputs) * double(sizeof(V)) > far_output;
  each(p.tasks(), bytes, [&](index_t task) {
    const index_t piece = task / p.tiles, tile = task % p.tiles;
    const index_t term = piece * p.terms, count = std::min(p.terms, terms - term), output = tile * p.outputs;
    const index_t size = tile_size(tile);
    const auto put_whole = [&](S* whole) {
      for (int r = 0; r < c.count; ++r)
        put_all(c, whole + r * size, y + output * c.y_stride + r * c.y_next, size, far_y);
    };
    if constexpr (std::is_same_v<S, T>)
      if (puts_few_lines<S>(c))
        return cpu::widest_registers([&](auto width) FURROW_INLINE {
          put_few_lines<width.value>(a + output, c.leading, c.lines, x, size, c.alpha, c.beta, y + output, far,
                                     far_y && c.beta == S(0));
        });
    if (c.across) {
      alignas(64) S room[(most_tiled + 4096) / sizeof(S)]; // NOLINT: written before it is read
      const T* const from = a + term * c.leading + output;
      S* const out = half_a_page_from(from, room);
      across_task(from, c.leading, count, x + term, x_next, size, c.count, far, out);
      if (p.pieces > 1) std::copy_n(out, size * c.count, sums_of(piece, tile));
      else put_whole(out);
      return;
    }
    // Whole sums go from the cache to y: a few from the stack, as taking memory for them costs as much as a small task.
    constexpr index_t few = 256;
    S here[few]; // NOLINT: written before it is read
    const index_t whole = p.pieces > 1 ? 0 : size * c.count;
    host_array<S> many(whole > few ? whole : 0);
    S* const out = p.pieces > 1 ? sums_of(piece, tile) : whole > few ? many.data() : here;
    along_task(a + output * c.leading + term, c.leading, size, x + term, x_next, count, c.count, far, out);
    if (p.pieces == 1) put_whole(out);
  });
  if (p.pieces == 1) return;
  // The pieces of a sum in their order, some outputs at a time: neighbours lie side by side.
  constexpr index_t some = 256;
  const index_t shares = ceil_div(p.outputs, some);
  each(p.tiles * shares, 0, [&](index_t part) {
    const index_t tile = part / shares, first = part % shares * some;
    const index_t count = std::min(some, tile_size(tile) - first);
    for (int r = 0; r < c.count && count > 0; ++r) {
      const auto share_of = [&](index_t piece) { return sums_of(piece, tile) + r * tile_size(tile) + first; };
      S sum[some]; // NOLINT: the first piece is written before anything is read
      std::copy_n(share_of(0), count, sum);
      for (index_t piece = 1; piece < p.pieces; ++piece) {
        const S* const more = share_of(piece);
        for (index_t i = 0; i < count; ++i) sum[i] += more[i];
      }
      put_all(c, sum, y + (tile * p.outputs + first) * c.y_stride + r * c.y_next, count, false);
    }
  });
  if (keeps) std::swap(sums, kept);
}

/// Problems side by side where there are many of them or they are small, tasks of one problem otherwise. The bits are
/// the same either way.
template <class S, class T> void run(const call<T>& c) {
  index_t widest = widest_tile<S>(c.count);
  if (puts_few_lines<S>(c)) widest = std::max(widest, task_bytes / (c.lines * index_t(sizeof(T))));
  const cpu_plan p =
      c.across ? plan_across(c.lines, c.length, sizeof(T), widest) : plan_along(c.lines, c.length, sizeof(T));
  if (c.batch > 1 && (p.tasks() == 1 || c.batch >= 4 * cpu::thread_count()))
    return cpu::for_each_task(c.batch, [&](index_t b) {
      run_problem<S>(c, p, b, [](index_t n, double, const auto& body) {
        for (index_t k = 0; k < n; ++k) body(k);
      });
    });
  for (index_t b = 0; b < c.batch; ++b)
    run_problem<S>(c, p, b,
                   [](index_t n, double streamed, const auto& body) { cpu::for_each_task(n, body, streamed); });
}

} // namespace

template <class T> void run_on_cpu(const call<T>& c) {
  if constexpr (std::is_same_v<T, float>)
    if (c.f64_sums) return run<double>(c);
  run<vector_value<T>>(c);
}

template void run_on_cpu(const call<double>&);
template void run_on_cpu(const call<float>&);
template void run_on_cpu(const call<half>&);
template void run_on_cpu(const call<bfloat16>&);

} // namespace furrow::dense
