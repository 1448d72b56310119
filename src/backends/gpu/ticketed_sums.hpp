// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

/// Sums that several blocks work out together, through memory: each block publishes a piece, and one of them collects
/// all pieces and adds them, in an order of its own choice, so that bits repeat.
///
/// Who collects: a block takes a ticket, at any time before it publishes its piece. Whoever took the last one collects;
/// it publishes its own piece like the others, or keeps it, and then waits until all are there. Taken late, behind the
/// loads, the ticket makes it wait for little.
///
/// Why it cannot hang: when the last ticket is taken, all others have been taken by blocks that run already, and that
/// wait for nobody before their piece is published. So nothing is asked of the order in which blocks begin, nor of how
/// many run at the same time. A block with several pieces one after the other must have published one, and where it is
/// its turn collected it, before it takes a ticket for the next.
///
/// Why it needs no fence: a place without a number holds bits that no sum has, and numbers of 4 or 8 bytes are written
/// and read whole. So a number that is there is the one that was published, whatever else has arrived by then.
///
/// Between kernels all places are empty and all counters are 0: those who collect see to both. Memory for places begins
/// as bytes of 0xff (`empty_byte`).
namespace furrow::gpu {

inline constexpr int empty_byte = 0xff;

/// The bits of an empty place: a NaN, but not the one that arithmetic makes.
template <class S> using word_of = std::conditional_t<sizeof(S) == 8, std::uint64_t, std::uint32_t>;
template <class S> inline constexpr word_of<S> empty_bits = ~word_of<S>(0);

/// What is published for `sum`: itself, or of the NaNs the one that has no payload.
template <class S> FURROW_HD word_of<S> bits_to_publish(S sum) {
  constexpr auto nan = static_cast<word_of<S>>(sizeof(S) == 8 ? 0x7ff8000000000000 : 0x7fc00000);
  word_of<S> bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return sum == sum ? bits : nan;
}

#if defined(__CUDACC__)
/// Adds to the counter of a tile; what it was before. Nothing waits for the answer until it is used.
__device__ inline unsigned add_to_counter(unsigned* counter, unsigned by) {
  unsigned before = 0;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(by) : "memory");
  return before;
}

/// By one thread a block.
__device__ inline unsigned take_ticket(unsigned* counter) { return add_to_counter(counter, 1); }

/// Publishes a number in its place.
template <class S> __device__ void publish(S* place, S sum) {
  const word_of<S> bits = bits_to_publish(sum);
  if constexpr (sizeof(S) == 8) asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(place), "l"(bits) : "memory");
  else asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(place), "r"(bits) : "memory");
}

/// N neighbouring places that are read together, at a multiple of their bytes.
template <int N, class S> struct alignas(N * sizeof(S)) places {
  word_of<S> bits[N];

  __device__ static places empty() {
    places p;
#pragma unroll
    for (int j = 0; j < N; ++j) p.bits[j] = empty_bits<S>;
    return p;
  }
  /// As a number that is the largest there is where, and only where, one is missing: no sum has its upper half.
  __device__ unsigned upper() const {
    unsigned most = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) most = max(most, unsigned(bits[j] >> (8 * sizeof(S) - 32)));
    return most;
  }
  /// Where `wanted`: as they are in the memory of the device now. (A branch around it would cost more than the load.)
  __device__ void look(const S* at, bool wanted) {
    static_assert(sizeof(S) == 8 && N == 2);
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];}"
                 : "+l"(bits[0]), "+l"(bits[1])
                 : "l"(at), "r"(unsigned(wanted))
                 : "memory");
  }
};

/// Takes places k < many, each at(k), and empties all U of them, which are there; zeros are taken for the others. Waits
/// until every one has its number: the loads of all are under way together. While one is missing all are asked again,
/// so that the program is short: it runs once and comes from the memory then, like data. Only for what is this block's
/// to take, after its own piece.
template <int U, class Numbers, class At> __device__ void collect_all(Numbers (&taken)[U], int many, const At& at) {
  using S = std::remove_pointer_t<decltype(at(0))>;
  constexpr int N = int(sizeof(Numbers) / sizeof(S));
  places<N, S> found[U] = {};
  unsigned most = 0;
  do {
#pragma unroll
    for (int u = 0; u < U; ++u) found[u].look(at(u), u < many);
    most = 0;
#pragma unroll
    for (int u = 0; u < U; ++u) most = max(most, found[u].upper());
  } while (most == ~0u);
#pragma unroll
  for (int u = 0; u < U; ++u) {
    std::memcpy(&taken[u], &found[u], sizeof found[u]);
    *reinterpret_cast<places<N, S>*>(at(u)) = places<N, S>::empty();
  }
}
#endif

} // namespace furrow::gpu
