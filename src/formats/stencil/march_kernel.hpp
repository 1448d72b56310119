// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "march.hpp"

#include "backends/gpu/block_rows.hpp"
#include "backends/gpu/bulk_copy.hpp"
#include "backends/gpu/shared_loads.hpp"

namespace furrow::gpu {

/// The shape of the kernel for so many vectors, whose rows of X are whole loads of 16 bytes.
template <class V, int Vectors> struct march_shape {
  static constexpr int threads = 256;
  static constexpr int stages = 3, ahead = 2; ///< planes of X that a block has room for, and that are on their way
  static constexpr int row_bytes = Vectors * static_cast<int>(sizeof(V)), elements = 16 / static_cast<int>(sizeof(V));
  static constexpr int loads = row_bytes >= 64 ? 2 : 1;                               ///< of a thread and place
  static constexpr int of_a_row = row_bytes / 16 / loads, vectors = loads * elements; ///< threads, and vectors of each
  static constexpr int rows = threads / of_a_row;                                     ///< of a block and plane
  static constexpr int blocks(bool cross) { return loads == 1 ? 4 : cross ? 3 : 2; }
  static constexpr int barriers = 32, zeros = 2 * row_bytes; ///< bytes
};

/// Which of the places a kernel multiplies by.
template <int Lines, bool Cross> struct march_places {
  static constexpr int of_a_plane = 3 * Lines, centre = of_a_plane / 2;
  FURROW_HD static constexpr bool has(int plane, int j) {
    return !Cross || j == centre || (plane == 1 && (j / 3 == Lines / 2 || j % 3 == 1));
  }
  FURROW_HD static constexpr std::uint32_t bits(int plane) {
    std::uint32_t all = 0;
    for (int j = 0; j < of_a_plane; ++j)
      if (has(plane, j)) all |= std::uint32_t(1) << (9 * plane + j);
    return all;
  }
};

template <class V> struct march_plan {
  march_tiles cut;
  stencil_planes<V> on;
};

/// The sums of a thread's rows in three neighbouring planes, and the bits of their stencils: the plane of X that is
/// there is the last one of `behind`, the own one of `here` and the first one of `next`.
template <class V, int P> struct march_rows {
  std::uint32_t behind, here, next;
  V sum_behind[P] = {}, sum_here[P] = {}, sum_next[P] = {};

  __device__ __forceinline__ void move_on(std::uint32_t after) {
    behind = here, here = next, next = after;
#pragma unroll
    for (int q = 0; q < P; ++q) sum_behind[q] = sum_here[q], sum_here[q] = sum_next[q], sum_next[q] = V(0);
  }
};

/// Where a thread finds elements: addresses of shared memory.
struct march_address {
  unsigned own, zeros; ///< of its row, and a row of 0 with one of -0 behind it
  int pitch, other;    ///< bytes between two lines, and from its first load of a row to the second
};

/// Adds what a plane of X gives to the three rows. In each row places come in their order. alike: of each place of the
/// plane all three rows have an entry there, or none has; `there` says which. An entry that none has gets the zero
/// whose product is -0, which leaves every sum as it is, for that costs less than to choose between sums.
template <bool Alike, int Lines, bool Cross, int Bytes, class V, int P>
__device__ __forceinline__ void add_plane(const stencil_planes<V>& on, const march_address& at, std::uint32_t there,
                                          march_rows<V, P>& rows) {
  using places = march_places<Lines, Cross>;
  constexpr int together = 3, elements = 16 / static_cast<int>(sizeof(V));
#pragma unroll
  for (int first = 0; first < places::of_a_plane; first += together) {
    V of_x[together][P];
#pragma unroll
    for (int j = first; j < first + together; ++j)
      if (places::has(1, j)) {
        unsigned from = at.own + (j / 3 - Lines / 2) * at.pitch + (j % 3 - 1) * Bytes;
        unsigned second = from + at.other;
        if (Alike && !(there >> j & 1)) from = second = at.zeros + (on.minus >> j & 1 ? 0 : Bytes);
        load_shared(from, of_x[j - first], 0);
        if constexpr (P > elements) load_shared(second, of_x[j - first], elements);
      }
#pragma unroll
    for (int j = first; j < first + together; ++j) {
      const V(&x)[P] = of_x[j - first];
      if (places::has(2, j) && (Alike || (rows.behind >> (18 + j) & 1)))
#pragma unroll
        for (int q = 0; q < P; ++q) rows.sum_behind[q] += on.val[18 + j] * x[q];
      if (places::has(1, j) && (Alike || (rows.here >> (9 + j) & 1)))
#pragma unroll
        for (int q = 0; q < P; ++q) rows.sum_here[q] += on.val[9 + j] * x[q];
      if (places::has(0, j) && (Alike || (rows.next >> j & 1)))
#pragma unroll
        for (int q = 0; q < P; ++q) rows.sum_next[q] += on.val[j] * x[q];
    }
  }
}

/// The same, whatever the rows have.
template <int Lines, bool Cross, int Bytes, class V, int P>
__device__ __forceinline__ void add_plane(const stencil_planes<V>& on, const march_address& at,
                                          march_rows<V, P>& rows) {
  using places = march_places<Lines, Cross>;
  constexpr std::uint32_t last = places::bits(2), own = places::bits(1), first = places::bits(0);
  const auto told = [](std::uint32_t mask) { // all bits for a row that counts, none for another one
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(mask << 4) >> 31);
  };
  const std::uint32_t behind = told(rows.behind) & last, here = told(rows.here) & own, next = told(rows.next) & first;
  const std::uint32_t there = (rows.behind & behind) >> 18 | (rows.here & here) >> 9 | (rows.next & next);
  const std::uint32_t missing = (~rows.behind & behind) >> 18 | (~rows.here & here) >> 9 | (~rows.next & next);
  if (__all_sync(0xffffffffu, (missing & (there | ~on.same)) == 0))
    add_plane<true, Lines, Cross, Bytes>(on, at, there, rows);
  else add_plane<false, Lines, Cross, Bytes>(on, at, there, rows);
}

/// Lines of X for the planes that a block comes through: a line of its tile, or one beside it, with a row more at
/// either end. A warp takes some of the lines of each plane.
template <class V, int Vectors> struct march_window {
  using shape = march_shape<V, Vectors>;
  const march_tiles& cut;
  const V* x;
  arrival* arrived; ///< of each stage
  unsigned char* stages;
  index_t first;          ///< row of the first line, without what lies beside it, in plane 0
  int plane, line, lines; ///< rows of a plane and of a line, lines of a plane

  __device__ int pitch() const { return (cut.width + 2) * shape::row_bytes; }
  __device__ int stage_bytes() const { return lines * pitch(); }

  /// What there is of a line. By a thread, or where nothing copies in bulk by the threads of a warp.
  __device__ void bring(int z, int s) const {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    if (FURROW_BULK_COPY && lane > 0) return;
    for (int l = static_cast<int>(threadIdx.x) / warp; l < lines; l += shape::threads / warp) {
      const index_t begin = index_t(z) * plane + index_t(l) * line + first - 1, end = begin + cut.width + 2;
      const index_t low = begin < 0 ? 0 : begin, high = end < cut.cols ? end : cut.cols;
      const unsigned bytes = low < high ? static_cast<unsigned>(high - low) * shape::row_bytes : 0;
      unsigned char* const to =
          stages + s * stage_bytes() + l * pitch() + static_cast<int>(low - begin) * shape::row_bytes;
      const auto* const from = reinterpret_cast<const unsigned char*>(x + low * Vectors);
      if (FURROW_BULK_COPY) {
        expect(arrived[s], bytes);
        if (bytes > 0) bulk_copy(to, from, bytes, arrived[s]);
      } else
        for (unsigned k = 16 * lane; k < bytes; k += 16 * warp)
          *reinterpret_cast<uint4*>(to + k) = *reinterpret_cast<const uint4*>(from + k);
    }
  }
};

/// Y <- A X in the rows whose stencils are told by their bits. A block takes a tile of a plane and marches through the
/// planes of its segment: each comes into shared memory once, with what lies around the tile, and is added to the rows
/// before, at and behind it, whose sums are in registers.
template <int Lines, bool Cross, int Vectors, class V>
__global__ void __launch_bounds__(march_shape<V, Vectors>::threads, march_shape<V, Vectors>::blocks(Cross))
    march_kernel(const std::uint8_t* number, const __grid_constant__ march_plan<V> plan, cview<V> x, view<V> y) {
  using shape = march_shape<V, Vectors>;
  constexpr int P = shape::vectors, bytes = shape::row_bytes;
  extern __shared__ __align__(128) unsigned char memory[];
  let_next_come();
  const march_tiles& cut = plan.cut;
  const stencil_planes<V>& on = plan.on;
  const int group = static_cast<int>(threadIdx.x) / shape::of_a_row;
  const int down = group / cut.width, along = group - down * cut.width; // in the tile
  const int segment = static_cast<int>(blockIdx.x) / cut.tiles, tile = static_cast<int>(blockIdx.x) % cut.tiles;
  const int begin = static_cast<int>(index_t(cut.planes) * segment / cut.segments);
  const int end = static_cast<int>(index_t(cut.planes) * (segment + 1) / cut.segments);
  const int line = tile / cut.across * cut.height, column = tile % cut.across * cut.width; // where the tile begins
  const index_t in_plane = index_t(line + down) * on.line + column + along;
  const bool in = down < cut.height && column + along < on.line && in_plane < on.plane;

  auto* const arrived = reinterpret_cast<arrival*>(memory);
  auto* const zeros = reinterpret_cast<V*>(memory + shape::barriers);
  if (threadIdx.x < shape::stages) open(arrived[threadIdx.x], cut.height + Lines - 1);
  if (threadIdx.x < 2 * Vectors) zeros[threadIdx.x] = threadIdx.x < Vectors ? V(0) : -V(0);
  __syncthreads();
  const march_window<V, Vectors> window{cut,
                                        x.data,
                                        arrived,
                                        memory + shape::barriers + shape::zeros,
                                        index_t(line - Lines / 2) * on.line + column,
                                        on.plane,
                                        on.line,
                                        cut.height + Lines - 1};
  wait_for_previous();
  const int steps = end - begin + 2; // the planes from begin - 1 to end
  for (int i = 0; i < shape::ahead; ++i) window.bring(begin - 1 + i, i);

  const index_t first = index_t(begin) * on.plane + in_plane;
  const std::uint8_t* of_row = number + first;
  int left = 0; // rows whose number is still to be read
  if (in && first < cut.rows) left = static_cast<int>((cut.rows - first + on.plane - 1) / on.plane);
  if (left > end - begin) left = end - begin;
  const auto read = [&] {
    const int read = left > 0 ? *of_row : stencil_planes<V>::most_stencils;
    --left, of_row += on.plane;
    return read;
  };
  // What is added up for rows of others is not stored, and they may have any stencil.
  march_rows<V, P> rows{stencil_planes<V>::every_place, stencil_planes<V>::every_place, on.mask[read()]};
  int coming = read();

  // Of two loads of a row every other four threads take the second one first: eight threads read all banks.
  const int lane = static_cast<int>(threadIdx.x) % shape::of_a_row;
  const bool turned = shape::loads == 2 && threadIdx.x / 4 % 2 == 1;
  const int load = turned ? lane + shape::of_a_row : lane;
  V* to = y.data + (first - 2 * index_t(on.plane)) * Vectors + shape::elements * load;
  march_address at{0, shared_address(zeros), window.pitch(), 16 * (turned ? -shape::of_a_row : shape::of_a_row)};
  const unsigned own = shared_address(window.stages) + (Lines / 2 + (in ? down : 0)) * at.pitch +
                       ((in ? along : 0) + 1) * bytes + 16 * load;
  for (int i = 0, s = 0, phase = 0; i < steps; ++i) {
    __syncthreads(); // nobody reads the plane before any more
    if (i + shape::ahead < steps) window.bring(begin - 1 + i + shape::ahead, (s + shape::ahead) % shape::stages);
    const std::uint32_t after = on.mask[coming];
    coming = read();
    wait(arrived[s], phase);
    at.own = own + s * window.stage_bytes();
    add_plane<Lines, Cross, bytes>(on, at, rows);
    if (rows.behind & stencil_planes<V>::is_told) {
      V part[shape::elements];
#pragma unroll
      for (int k = 0; k < shape::loads; ++k) {
#pragma unroll
        for (int q = 0; q < shape::elements; ++q) part[q] = rows.sum_behind[k * shape::elements + q];
        store_elements(part, true, to + k * at.other / static_cast<int>(sizeof(V)));
      }
    }
    rows.move_on(after);
    to += index_t(on.plane) * Vectors;
    if (++s == shape::stages) s = 0, phase ^= 1;
  }
}

} // namespace furrow::gpu
