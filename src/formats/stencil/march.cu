// SPDX-License-Identifier: BSD-3-Clause
#include "march_kernel.hpp"

#include "backends/gpu/launch.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace furrow::gpu {
namespace {

/// Bytes that a block has in shared memory, as many as it has without asking at most.
template <class V, int Vectors> int march_bytes(const march_tiles& t, int lines) {
  using shape = march_shape<V, Vectors>;
  return shape::barriers + shape::zeros + shape::stages * (t.width + 2) * (t.height + lines - 1) * shape::row_bytes;
}
constexpr int most_march_bytes = 48 << 10;

/// Tiles that read little beside themselves, in few lines, for each line is a copy of its own; and as many segments as
/// keep the device busy to the end.
template <class V, int Vectors> march_tiles cut_march(const stencil_planes<V>& on, shape2 matrix, int multiprocessors) {
  using shape = march_shape<V, Vectors>;
  const auto parts = [](int all, int each) { return (all + each - 1) / each; };
  constexpr double of_a_line = 28; // rows that take as long to bring as a copy takes by itself
  march_tiles best;
  double least = 0;
  const int lines = parts(on.plane, on.line), beside = on.lines - 1;
  for (int across = parts(on.line, shape::rows); across <= on.line; across += 1 + across / 32) {
    march_tiles t{static_cast<std::int32_t>(matrix.rows), static_cast<std::int32_t>(matrix.cols),
                  parts(static_cast<int>(matrix.rows), on.plane), parts(on.line, across)};
    t.across = parts(on.line, t.width);
    t.height = on.lines == 1 ? 1 : parts(lines, parts(lines, std::min(lines, shape::rows / t.width)));
    t.tiles = t.across * parts(lines, t.height);
    const double brought = (t.width + 2.0) * (t.height + beside) + of_a_line * (t.height + beside);
    const double cost = t.tiles * (2 * shape::rows + brought);
    if (march_bytes<V, Vectors>(t, on.lines) <= most_march_bytes && (best.tiles == 0 || cost < least)) {
      best = t;
      least = cost;
    }
    if (on.lines == 1 || t.width <= 8) break;
  }
  if (best.tiles == 0) return best;
  const int at_once = multiprocessors * shape::blocks(on.cross);
  double shortest = 0;
  for (int turns = 1; turns <= 8; ++turns) {
    const int segments = std::clamp(turns * at_once / best.tiles, 1, std::max(1, best.planes / 3));
    const double steps = parts(best.tiles * segments, at_once) * (parts(best.planes, segments) + 2.0);
    if (turns == 1 || steps < shortest) {
      best.segments = segments;
      shortest = steps;
    }
  }
  return best;
}

/// f(std::integral_constant<int, Vectors>) for all that rows of X are whole loads of.
template <class V, class F> void for_each_count(F f) {
  if constexpr (sizeof(V) == 8) f(std::integral_constant<int, 2>{});
  f(std::integral_constant<int, 4>{});
  f(std::integral_constant<int, 8>{});
  f(std::integral_constant<int, 16>{});
}
constexpr int cut_for(int vectors) { return std::countr_zero(static_cast<unsigned>(vectors)) - 1; }

template <int Lines, bool Cross, int Vectors, class V>
void march_through(const march_plan<V>& plan, cview<std::uint8_t> number, cview<V> x, view<V> y) {
  launch(march_kernel<Lines, Cross, Vectors, V>, static_cast<unsigned>(plan.cut.tiles * plan.cut.segments),
         march_shape<V, Vectors>::threads, march_bytes<V, Vectors>(plan.cut, Lines), current_queue(), number.data, plan,
         x, y);
}

} // namespace

template <class V>
stencil_march<V>::stencil_march(const stencil_planes<V>& planes, shape2 matrix, int multiprocessors) : planes_(planes) {
  for_each_count<V>([&]<int Vectors>(std::integral_constant<int, Vectors>) {
    cut_[cut_for(Vectors)] = cut_march<V, Vectors>(planes, matrix, multiprocessors);
  });
}

template <class V> bool stencil_march<V>::gains(index_t count) const {
  // Bytes of X that entries ask for: where they are few, a block waits for its first planes most of the time (f64,
  // H200: poisson3d:48 with four vectors takes 7.5 us so and 4.7 row by row, with sixteen 9.0 and 11.4).
  const double least = (planes_.cross && planes_.lines == 3 ? 60.0 : 24.0) * 1048576;
  const double entries = std::popcount(planes_.mask[0] & stencil_planes<V>::every_place);
  return entries * double(sizeof(V)) * double(count) * cut_[cut_for(16)].rows >= least;
}

template <class V>
bool stencil_march<V>::multiply(cview<std::uint8_t> number, cview<V> x, view<V> y, index_t count) const {
  bool done = false;
  for_each_count<V>([&]<int Vectors>(std::integral_constant<int, Vectors>) {
    const march_plan<V> plan{cut_[cut_for(Vectors)], planes_};
    constexpr int of_a_load = 16 / static_cast<int>(sizeof(V));
    if (count != Vectors || plan.cut.tiles == 0) return;
    if (!are_aligned<of_a_load>(x) || !are_aligned<of_a_load>(cview<V>(y))) return;
    const auto by = [&]<int Lines>(std::integral_constant<int, Lines>) {
      if (planes_.cross) march_through<Lines, true, Vectors>(plan, number, x, y);
      else march_through<Lines, false, Vectors>(plan, number, x, y);
    };
    if (planes_.lines == 1) by(std::integral_constant<int, 1>{});
    else by(std::integral_constant<int, 3>{});
    done = true;
  });
  return done;
}

template class stencil_march<double>;
template class stencil_march<float>;

} // namespace furrow::gpu
