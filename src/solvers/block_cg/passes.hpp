// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "state.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>
#include <furrow/operator.hpp>

#include <algorithm>
#include <array>
#include <vector>

/// Passes over blocks of W vectors that lie row by row, on the CPU. Products of W x W matrices with rows and Gram
/// matrices run over tiles that stay in the first cache. Sums in double, in the order of fixed blocks of rows: the same
/// bits for every number of threads.
namespace furrow::block_cg {

inline constexpr index_t rows_of_task = 2048, rows_of_tile = 128;

template <class V, int W> struct factors {
  alignas(64) V a[W][W];
  explicit factors(const square<W>& m, double sign = 1) {
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) a[i][j] = static_cast<V>(sign * m[i][j]);
  }
};

/// out += v M for one row v.
template <class V, int W> FURROW_INLINE inline void add_product(const V* v, const factors<V, W>& m, V* out) {
#pragma GCC unroll 16
  for (int p = 0; p < W; ++p) {
    const V vp = v[p];
#pragma omp simd
    for (int q = 0; q < W; ++q) out[q] += vp * m.a[p][q];
  }
}

/// sum += A'B over `rows` rows.
template <class V, int W> FURROW_INLINE inline void add_gram(const V* a, const V* b, index_t rows, square<W>& sum) {
  constexpr int group = W < 8 ? W : 8;
  for (int first = 0; first < W; first += group) {
    alignas(64) double part[group][W] = {};
    for (index_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (int p = 0; p < group; ++p) {
        const double ap = double(a[i * W + first + p]);
#pragma omp simd
        for (int q = 0; q < W; ++q) part[p][q] += ap * double(b[i * W + q]);
      }
    }
    for (int p = 0; p < group; ++p)
      for (int q = 0; q < W; ++q) sum[first + p][q] += part[p][q];
  }
}

/// The state, and the passes that read and write it: each leaves Gram matrices there, after which `Then` runs. A pass
/// that the state does not want (`Then::wanted`) does nothing.
template <class V, int W> class passes {
public:
  using matrix = square<W>;
  static constexpr bool on_gpu = false;
  explicit passes(index_t n) : n_(n), records_(1) {}

  const block_state<W>* state() const { return &state_; }
  void send(const block_state<W>& s) { state_ = s; }
  const block_state<W>& look() const { return state_; }
  /// Steps that are kept for the host.
  static constexpr index_t kept() { return 1; }
  const step_record<W>* look_at_records() const { return records_.data(); }

  /// g = A'D B, without D where `diagonal` is empty. Reads both.
  template <class Then> void gram(const V* a, const V* b, cview<V> diagonal = {}) {
    if (!Then::wanted(state_)) return;
    state_.g = summed<1>([&](index_t first, index_t rows, matrix* sum) FURROW_INLINE {
      alignas(64) V room[rows_of_tile * W];
      add_gram(a + first * W, scaled(diagonal, b, first, rows, room), rows, sum[0]);
    })[0];
    then<Then>();
  }

  /// T = Q - P xi, X += S move, over Q and X; g = T'M T, where M T is not stored, and h = T'T. Reads 4 blocks,
  /// writes 2.
  template <class Then> void shrink(V* q, const V* p, V* x, const V* s, const preconditioned<V>& m) {
    if (!Then::wanted(state_)) return;
    struct update {
      const V* from;
      factors<V, W> by;
      V* to;
    };
    const update updates[] = {{p, factors<V, W>(state_.xi, -1), q}, {s, factors<V, W>(state_.move), x}};
    const int kinds = m.diagonal.empty() ? 1 : 2;
    const auto sums = summed<2>([&](index_t first, index_t rows, matrix* sum) FURROW_INLINE {
      for (const update& u : updates)
        for (index_t e = first * W; e < (first + rows) * W; e += W) {
          alignas(64) V row[W];
          std::copy_n(u.to + e, W, row);
          add_product(u.from + e, u.by, row);
          std::copy_n(row, W, u.to + e);
        }
      alignas(64) V room[rows_of_tile * W];
      for (int k = 0; k < kinds; ++k)
        add_gram(q + first * W, scaled(k ? m.diagonal : cview<V>{}, q, first, rows, room), rows, sum[k]);
    });
    state_.g = sums[kinds - 1], state_.h = sums[0];
    then<Then>();
  }

  /// T <- T inverse, and so M T where that is stored; g = T'M T. Reads a block or two, writes them.
  template <class Then> void turn_again(V* t, const preconditioned<V>& m) {
    if (!Then::wanted(state_)) return;
    turn_rows(t, m, nullptr);
    gram<Then>(t, m.stored ? m.stored : t, m.diagonal);
  }

  /// T <- T inverse, and so M T where that is stored; S becomes M T + S beta. Reads 2 blocks, writes 2.
  void turn(V* t, V* s, const preconditioned<V>& m) {
    if (state_.why == control::running) turn_rows(t, m, s);
  }

private:
  template <class Then> void then() { Then::run(alone{}, state_, records_[0], room_); }
  void turn_rows(V* t, const preconditioned<V>& m, V* s) {
    const factors<V, W> by_inverse(state_.inverse), by_beta(state_.beta);
    each_tile([&](index_t first, index_t rows) FURROW_INLINE {
      for (V* const block : {t, m.stored}) {
        for (index_t e = first * W; block && e < (first + rows) * W; e += W) {
          alignas(64) V row[W] = {};
          add_product(block + e, by_inverse, row);
          std::copy_n(row, W, block + e);
        }
      }
      if (!s) return;
      const V* const z = m.stored ? m.stored : t;
      for (index_t i = first; i < first + rows; ++i) {
        const V d = m.diagonal.empty() ? V(1) : m.diagonal[i];
        alignas(64) V row[W];
#pragma omp simd
        for (int k = 0; k < W; ++k) row[k] = d * z[i * W + k];
        add_product(s + i * W, by_beta, row);
        std::copy_n(row, W, s + i * W);
      }
    });
  }
  /// `rows` rows of D B, which lie in `room`; those of B where `diagonal` is empty.
  static FURROW_INLINE inline const V* scaled(cview<V> diagonal, const V* b, index_t first, index_t rows, V* room) {
    b += first * W;
    if (diagonal.empty()) return b;
    for (index_t i = 0; i < rows; ++i) {
      const V d = diagonal[first + i];
#pragma omp simd
      for (int k = 0; k < W; ++k) room[i * W + k] = d * b[i * W + k];
    }
    return room;
  }

  template <class F> void each_tile(F f) {
    cpu::for_each_task(tasks(), [&](index_t task) {
      cpu::widest([&]() FURROW_INLINE {
        for (index_t i = task * rows_of_task; i < end_of(task); i += rows_of_tile)
          f(i, std::min(rows_of_tile, end_of(task) - i));
      });
    });
  }
  /// The sums of f(first, rows, sums) over all tiles.
  template <int N, class F> std::array<matrix, N> summed(F f) {
    partial_.assign(static_cast<std::size_t>(tasks()), {});
    cpu::for_each_task(tasks(), [&](index_t task) {
      cpu::widest([&]() FURROW_INLINE {
        matrix sum[N] = {};
        for (index_t i = task * rows_of_task; i < end_of(task); i += rows_of_tile)
          f(i, std::min(rows_of_tile, end_of(task) - i), sum);
        for (int k = 0; k < N; ++k) partial_[static_cast<std::size_t>(task)][k] = sum[k];
      });
    });
    std::array<matrix, N> total{};
    for (const auto& one : partial_)
      for (int k = 0; k < N; ++k) total[k] = total[k] + one[k];
    return total;
  }
  index_t tasks() const { return (n_ + rows_of_task - 1) / rows_of_task; }
  index_t end_of(index_t task) const { return std::min(n_, (task + 1) * rows_of_task); }

  index_t n_;
  block_state<W> state_{};
  std::vector<step_record<W>> records_;
  small_room<W> room_{};
  std::vector<std::array<matrix, 2>> partial_;
};

} // namespace furrow::block_cg
