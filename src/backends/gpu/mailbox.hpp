// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>

/// Sums over ranks that write into each other's memory.
///
/// Each rank has an inbox. In round t it writes its number into everybody's, waits until those of all others are in
/// its own, and adds them in the order of the ranks. A number travels as two words of 64 bits, each of which has one
/// half of it and the number of the round: who finds the round in a word has the half that belongs to it, so that no
/// fence is needed and nothing is emptied.
///
/// Two inboxes take turns, and that is enough: a rank writes for round t + 2 when it has the numbers of all others for
/// round t + 1, and these have then left round t behind. Memory begins as zeros, the first round is 1.
namespace furrow::gpu::mailbox {

inline constexpr int most_ranks = 16;

/// The round after this one, in the other inbox; never 0, which memory begins with.
FURROW_HD inline std::uint32_t round_after(std::uint32_t round) { return round + 1 != 0 ? round + 1 : 2; }

FURROW_HD inline std::uint64_t word_of(double number, int half, std::uint32_t round) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  const auto part = static_cast<std::uint32_t>(half == 0 ? bits : bits >> 32);
  return std::uint64_t(part) << 32 | round;
}
FURROW_HD inline bool is_of(std::uint64_t word, std::uint32_t round) {
  return static_cast<std::uint32_t>(word) == round;
}
FURROW_HD inline double number_of(std::uint64_t low, std::uint64_t high) {
  const std::uint64_t bits = low >> 32 | (high >> 32) << 32;
  double number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

/// Numbers of a halo travel likewise: a word for every 4 bytes.
template <class V> inline constexpr int words_of = static_cast<int>(sizeof(V) / 4);
FURROW_HD inline std::uint64_t word_of(float number, std::uint32_t round) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return std::uint64_t(bits) << 32 | round;
}
FURROW_HD inline float number_of(std::uint64_t word) {
  const auto bits = static_cast<std::uint32_t>(word >> 32);
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

/// Where words lie in a rank's memory: `most` numbers at most go to a sum.
struct layout {
  int ranks = 1, most = 1;

  FURROW_HD index_t words() const { return 2 * index_t(ranks) * most * 2; }
  /// Of number k from a rank: its first half; the other one follows.
  FURROW_HD index_t place(std::uint32_t round, int from, int k) const {
    return ((index_t(round % 2) * ranks + from) * most + k) * 2;
  }
};

/// The sum over the ranks of their numbers k of this round. `memory`: put(rank, place, word) writes into a rank's
/// inbox, get(place) reads the own one, over(rank) says, between two looks, that who waits for that rank is to give up.
/// NaN then. Calls of several k may run at the same time; a rank ends all of a round before it begins another.
template <class Memory>
FURROW_HD double sum_over_ranks(Memory& memory, const layout& at, int rank, std::uint32_t round, int k, double mine) {
  for (int step = 1; step < at.ranks; ++step) { // everybody begins with another one
    const int to = (rank + step) % at.ranks;
    for (int half = 0; half < 2; ++half) memory.put(to, at.place(round, rank, k) + half, word_of(mine, half, round));
  }
  double total = 0;
  for (int from = 0; from < at.ranks; ++from) {
    double number = mine;
    if (from != rank) {
      const index_t place = at.place(round, from, k);
      std::uint64_t low = memory.get(place), high = memory.get(place + 1);
      while (!is_of(low, round) || !is_of(high, round)) {
        if (memory.over(from)) return double(NAN);
        low = memory.get(place), high = memory.get(place + 1);
      }
      number = number_of(low, high);
    }
    total = from == 0 ? number : total + number;
  }
  return total;
}

} // namespace furrow::gpu::mailbox
