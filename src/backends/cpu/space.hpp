// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "basis_pair.hpp"
#include "isa.hpp"
#include "parallel.hpp"

#include <furrow/array.hpp>
#include <furrow/communicator.hpp>
#include <furrow/space.hpp>

#include <vector>

namespace furrow::cpu {

/// Elements of one block of a sweep. The partial sums of a block are added in the order of the blocks, whatever the
/// number of threads: the same bits on every run.
inline constexpr index_t sweep_block = 2048;
/// Independent running sums inside a block, so that the loop runs in vector registers.
inline constexpr int sweep_lanes = 8;

/// step(i, sum) for [first, last); adds the sums of the lanes, in order, to out[0..N).
template <int N, class Step>
FURROW_INLINE inline void sweep_piece(Step step, index_t first, index_t last, double* out) {
  alignas(64) double lane[N ? N : 1][sweep_lanes] = {};
  index_t i = first;
  for (; i + sweep_lanes <= last; i += sweep_lanes) {
#pragma omp simd
    for (int l = 0; l < sweep_lanes; ++l) step(i + l, step.at(i + l), sums<N>{&lane[0][l], sweep_lanes});
  }
  for (int l = 0; i < last; ++i, ++l) step(i, step.at(i), sums<N>{&lane[0][l], sweep_lanes});
  for (int k = 0; k < N; ++k) {
    double total = 0;
    for (const double share : lane[k]) total += share;
    out[k] = total;
  }
}

/// Vectors in host memory, passes on all threads. Meets the concept `vector_space`; nothing is deferred. On ranks each
/// has its part of every vector, and what goes to a slot is the sum over all of them; n is that of the part.
template <class V> class space {
public:
  using value = V;
  using array = host_array<V>;

  explicit space(communicator* ranks = nullptr) : ranks_(ranks) {}

  array make(index_t n) { return array(n); }
  host_array<double> make_slots(index_t n) { return host_array<double>(n, 0.0); }

  void copy(cview<V> x, view<V> y) {
    for_each_range(x.size, 1 << 15, [&](index_t first, index_t last) {
      host_memory::copy(y.data + first, x.data + first, static_cast<std::size_t>(last - first) * sizeof(V));
    });
  }

  template <class Step, class... Slots> void sweep(index_t n, Step step, Slots... out) {
    constexpr int count = sizeof...(Slots);
    static_assert(sweep_step<Step, count>);
    step.load();
    const index_t blocks = (n + sweep_block - 1) / sweep_block;
    partial_.resize(static_cast<std::size_t>(blocks * count));
    double* const partial = partial_.data();
    const auto run = [&](index_t b) {
      widest([&]() FURROW_INLINE {
        double total[count ? count : 1];
        sweep_piece<count>(step, b * sweep_block, std::min(n, (b + 1) * sweep_block), total);
        for (int k = 0; k < count; ++k) partial[b * count + k] = total[k];
      });
    };
    if (blocks >= 4) for_each_task(blocks, run);
    else
      for (index_t b = 0; b < blocks; ++b) run(b);
    int k = 0;
    ((*out.at = add_up(partial + k++, blocks, count)), ...);
    over_ranks(out...);
  }

  void dot(cview<V> x, cview<V> y, slot out) { sweep(x.size, dot_step<V>{x, y}, out); }

  template <class E = V> host_array<E> make_basis(index_t n, index_t most) {
    return host_array<E>(basis<E>::stride_of(n) * most);
  }
  template <class E> void project(const basis<E>& all, slot count, cview<V> w, slot h, slot squares) {
    cpu::project(all, static_cast<index_t>(*count.at), nullptr, w.data, h.at, squares.at, partial_);
    projections_over_ranks(h, count, squares);
  }
  template <class E>
  void subtract_and_project(const basis<E>& all, slot count, slot h, view<V> w, slot g, slot squares) {
    cpu::project(all, static_cast<index_t>(*count.at), h.at, w.data, g.at, squares.at, partial_);
    projections_over_ranks(g, count, squares);
  }
  template <class E, class Step, class... Slots>
  void combine(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    constexpr int sums = sizeof...(Slots);
    step.load();
    const auto used = static_cast<index_t>(*count.at);
    over_tiles<sums>(
        all.n,
        [&](index_t i, index_t n, double* total) FURROW_INLINE {
          alignas(64) V along[basis_tile];
          combine_tile(all.data + i, all.stride, used, h.at, along, n);
          sweep_piece<sums>(given_step<Step, V>{step, along, i}, i, i + n, total);
        },
        out...);
  }
  template <class E> void project_two(const basis<E>& all, slot count, cview<V> u, cview<V> w, slot g) {
    const auto used = static_cast<index_t>(*count.at);
    cpu::project_two(all, used, u.data, w.data, g.at, partial_);
    if (ranks_) ranks_->sum({g.at + 1, 2 * used + 3});
  }
  template <class E, class Step, class... Slots>
  void combine_two(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    constexpr int sums = sizeof...(Slots);
    const auto used = static_cast<index_t>(*count.at);
    pair_products products;
    for (index_t k = 0; k < used; ++k) products.add(h.at[2 * k], h.at[2 * k + 1]);
    step.load(products);
    step.tell();
    over_tiles<sums>(
        all.n,
        [&](index_t i, index_t n, double* total) FURROW_INLINE {
          alignas(64) V a[basis_tile], b[basis_tile];
          combine_two_tile(all.data + i, all.stride, used, h.at, a, b, n);
          sweep_piece<sums>(given_two_step<Step, V>{step, a, b, i}, i, i + n, total);
        },
        out...);
  }

  template <class F> void scalars(F f) { f(); }

  double read(slot s) { return *s.at; }
  void fetch(cview<double> from, view<double> to) { std::copy(from.begin(), from.end(), to.begin()); }
  void put(cview<double> from, view<double> to) { std::copy(from.begin(), from.end(), to.begin()); }

  template <class Body, class Until> struct loop {
    Body body;
    Until until;
    bool run(index_t steps) {
      for (index_t i = 0; i < steps; ++i) {
        body();
        if (until()) return true;
      }
      return false;
    }
  };
  template <class Body, class Until> loop<Body, Until> repeat(Body body, Until until, bool /*waits*/ = false) {
    return {body, until};
  }

private:
  /// tile(i, n, total) for each n elements from i on: its sums, added up in the order of the blocks, go to the slots.
  template <int sums, class Tile, class... Slots> void over_tiles(index_t n, Tile tile, Slots... out) {
    const index_t blocks = (n + basis_block - 1) / basis_block;
    partial_.assign(static_cast<std::size_t>(blocks * sums), 0.0);
    double* const partial = partial_.data();
    for_each_basis_block(n, [&](index_t block, index_t first, index_t last) {
      widest([&]() FURROW_INLINE {
        for (index_t i = first; i < last; i += basis_tile) {
          double total[sums ? sums : 1];
          tile(i, std::min(basis_tile, last - i), total);
          for (int k = 0; k < sums; ++k) partial[block * sums + k] += total[k];
        }
      });
    });
    int k = 0;
    ((*out.at = add_up(partial + k++, blocks, sums)), ...);
    over_ranks(out...);
  }
  static double add_up(const double* partial, index_t blocks, int stride) {
    double total = 0;
    for (index_t b = 0; b < blocks; ++b) total += partial[b * stride];
    return total;
  }
  /// Sums of this rank become those of all: one exchange, however many they are.
  template <class... Slots> void over_ranks(Slots... out) {
    if constexpr (sizeof...(Slots) > 0) {
      if (!ranks_) return;
      double sums[] = {*out.at...};
      ranks_->sum({sums, sizeof...(Slots)});
      int k = 0;
      ((*out.at = sums[k++]), ...);
    }
  }
  /// The same of sums side by side, `count` of them, and one more.
  void projections_over_ranks(slot first, slot count, slot last) {
    if (!ranks_) return;
    const auto n = static_cast<index_t>(*count.at);
    partial_.assign(first.at, first.at + n);
    partial_.push_back(*last.at);
    ranks_->sum({partial_.data(), n + 1});
    std::copy(partial_.begin(), partial_.begin() + n, first.at);
    *last.at = partial_.back();
  }

  communicator* ranks_;
  std::vector<double> partial_;
};

} // namespace furrow::cpu
