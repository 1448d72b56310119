// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "diagonal.hpp"
#include "grid/transfer.hpp"
#include "hierarchy.hpp"
#include "inner_steps.hpp"

#include "backends/cpu/space.hpp"
#include "formats/csr/cpu_rows.hpp"
#include "formats/dia/cpu_rows.hpp"

#include <furrow/storage.hpp>

#include <utility>

namespace furrow::amg {

/// One V-cycle on the CPU, symmetric where the hierarchy is: smooth, residual to the next level, its correction back,
/// smooth. Products with A on each level: 2 degree, of which each carries the vector work of its step in the same pass.
/// Sums of a row in an order that its length decides: the same bits for any number of threads.
///
/// With `inner` levels a K-cycle: the first so many levels below the finest are not visited once, but solved by two
/// steps of flexible conjugate gradients whose preconditioner is the cycle from there on; the second is left out where
/// the first leaves less than a quarter of the residual. It takes a product and some sums more for each, and makes M
/// another one for each r.
/// Y. Notay, P. S. Vassilevski, Recursive Krylov-based multigrid cycles, 2008.
template <class W> class multigrid_cycle {
public:
  multigrid_cycle(const hierarchy<W>& h, int degree, std::size_t inner = 0) : h_(h), degree_(degree), inner_(inner) {
    for (std::size_t k = 0; k < h.levels.size(); ++k) {
      const level<W>& l = h.levels[k];
      const index_t n = l.size(), more = is_inner(k) ? n : 0;
      work_.push_back({host_array<W>(n), host_array<W>(n), host_array<W>(n), host_array<W>(n), host_array<W>(n),
                       host_array<W>(more), host_array<W>(more), grid_transfer<W>(l.axes),
                       h.steps.symmetric ? mirrored(l.diagonals) : as_stored(l.diagonals)});
    }
  }
  view<W> b() { return as_view(work_[0].b); }         ///< to be filled
  cview<W> x() const { return as_cview(work_[0].x); } ///< the answer of `run`

  void run() { visit(0); }

private:
  struct vectors {
    host_array<W> b, x, r, z, next;
    host_array<W> first, image; ///< of an inner level: the direction of the first step, and A times it
    grid_transfer<W> way;
    std::vector<const W*> values; ///< of the diagonals, where row 0 would lie
  };
  static constexpr index_t chunk = 240;     ///< rows whose sums wait in the first cache; whole nodes of 1 to 6
  static constexpr index_t grain = 1 << 13; ///< entries worth a thread

  /// A is symmetric: what lies left of the diagonal is read right of it, some rows before, where it is in a cache
  /// still. Half the bytes come from memory.
  static std::vector<const W*> mirrored(const dia<W, host_array>& a) {
    std::vector<const W*> values;
    for (index_t d = 0; d < a.offset.size(); ++d) {
      const auto other = std::ranges::lower_bound(a.offset, -a.offset[d]);
      const bool there = a.offset[d] < 0 && other != a.offset.end() && *other == -a.offset[d];
      values.push_back(there ? a.val.data() + (other - a.offset.begin()) * a.stride + a.offset[d]
                             : a.val.data() + d * a.stride);
    }
    return values;
  }

  static std::vector<const W*> as_stored(const dia<W, host_array>& a) {
    std::vector<const W*> values;
    for (index_t d = 0; d < a.offset.size(); ++d) values.push_back(a.val.data() + d * a.stride);
    return values;
  }

  void visit(std::size_t k) {
    const level<W>& l = h_.levels[k];
    vectors& v = work_[k];
    if (l.last() && !h_.coarsest.empty()) return solve(v);
    smooth_from_zero(l, v, l.last() ? most_degree : degree_);
    if (l.last()) return;
    vectors& c = work_[k + 1];
    product(l, v, v.x, [&](index_t first, index_t count, W* sum) FURROW_INLINE {
      for (index_t i = 0; i < count; ++i) v.r[first + i] = v.b[first + i] - sum[i];
    });
    if (l.axes.empty()) restrict_by_rows(l, v.r, c.b);
    else v.way.restrict_to(v.r.data(), c.b.data());
    correct(k + 1);
    if (l.axes.empty()) prolong_by_rows(l, c.x, v.x);
    else v.way.add_prolonged(c.x.data(), v.x.data());
    smooth(l, v);
  }

  bool is_inner(std::size_t k) const { return k >= 1 && k <= inner_ && !h_.levels[k].last(); }
  /// x, near A^-1 b. b is used up.
  void correct(std::size_t k) {
    visit(k);
    if (!is_inner(k)) return;
    using namespace inner_steps;
    const level<W>& l = h_.levels[k];
    vectors& v = work_[k];
    double s[slot_count] = {};
    times(l, v, v.x, v.image);
    s[energy] = dot(v.x, v.image), s[aimed] = dot(v.x, v.b), s[size] = dot(v.b, v.b);
    std::swap(v.x, v.first);
    each(v.b, [&, step = static_cast<W>(first_step(s))](index_t i) { v.b[i] -= step * v.image[i]; });
    s[left] = dot(v.b, v.b);
    if (goes_on(s)) {
      visit(k);
      times(l, v, v.x, v.r);
      s[mixed] = dot(v.x, v.image), s[own] = dot(v.x, v.r), s[aimed_again] = dot(v.x, v.b);
    }
    const auto [first, second] = weights_of(s);
    const auto before = static_cast<W>(first), again = static_cast<W>(second);
    if (again == 0) each(v.x, [&](index_t i) { v.x[i] = before * v.first[i]; });
    else each(v.x, [&](index_t i) { v.x[i] = before * v.first[i] + again * v.x[i]; });
  }
  void times(const level<W>& l, const vectors& v, const host_array<W>& x, host_array<W>& y) const {
    product(l, v, x,
            [&](index_t first, index_t count, W* sum) FURROW_INLINE { std::copy_n(sum, count, y.data() + first); });
  }
  double dot(const host_array<W>& x, const host_array<W>& y) {
    double sum = 0;
    space_.dot(as_cview(x), as_cview(y), slot{&sum});
    return sum;
  }
  template <class F> static void each(const host_array<W>& of, F f) {
    cpu::for_each_range(of.size(), grain, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  }

  void restrict_by_rows(const level<W>& l, const host_array<W>& r, host_array<W>& b) const {
    sweep_rows(l.r, 1, r,
               [&](index_t first, index_t count, W* sum) FURROW_INLINE { std::copy_n(sum, count, b.data() + first); });
  }
  void prolong_by_rows(const level<W>& l, const host_array<W>& c, host_array<W>& x) const {
    sweep_rows(l.p, 1, c, [&](index_t first, index_t count, W* sum) FURROW_INLINE {
      for (index_t i = 0; i < count; ++i) x[first + i] += sum[i];
    });
  }

  /// f(first, count, sums) for the rows of A x, some at a time; sums may be changed.
  template <class F> void product(const level<W>& l, const vectors& v, const host_array<W>& x, F f) const {
    if (!l.by_diagonals()) return sweep_rows(l.a, l.block, x, f);
    const auto a = view_of(l.diagonals);
    const auto value_of = [&](index_t d) { return v.values[d]; };
    sweep(
        l.size() / l.block, l.block, a.val.size, byte_count(l.diagonals), f,
        [&](index_t first, index_t last, W* sum) { diagonal_rows::sums(a, first, last, as_cview(x), sum, value_of); });
  }
  template <class F> void sweep_rows(const rows<W>& a, int block, const host_array<W>& x, F f) const {
    sweep(a.shape.rows / block, block, a.val.size(), byte_count(a), f,
          [&, matrix = view_of(a)](index_t first, index_t last, W* sum) {
            csr_rows::direct::sums(matrix, first, last, as_cview(x), sum);
          });
  }
  template <class F, class Sums>
  static void sweep(index_t nodes, int block, index_t entries, double bytes, F f, Sums sums) {
    const index_t least = std::max<index_t>(1, grain * nodes / std::max<index_t>(entries, 1));
    const index_t tasks = std::clamp<index_t>(nodes / least, 1, 8 * cpu::thread_count());
    const auto piece = [&](index_t t) {
      alignas(64) W sum[chunk];
      for (index_t i = cpu::part_begin(nodes, tasks, t) * block, end = cpu::part_begin(nodes, tasks, t + 1) * block;
           i < end; i += chunk) {
        const index_t count = std::min(chunk, end - i);
        sums(i, i + count, sum);
        cpu::widest([&]() FURROW_INLINE { f(i, count, sum); });
      }
    };
    cpu::for_each_task(tasks, piece, bytes);
  }

  /// x <- p(A) b from x = 0.
  void smooth_from_zero(const level<W>& l, vectors& v, int degree) const {
    const W c = static_cast<W>(h_.steps.first() / l.lambda), beta = static_cast<W>(h_.steps.beta(degree, 1));
    cpu::for_each_range(l.size() / l.block, grain / l.block, [&](index_t first, index_t last) {
      const index_t from = first * l.block, to = last * l.block;
      cpu::widest([&]() FURROW_INLINE {
        times_inverse(l.inverse.data(), l.block, from, to, v.b.data() + from, v.z.data() + from);
        for (index_t i = from; i < to; ++i) v.x[i] = beta * (v.z[i] *= c);
      });
    });
    for (int i = 2; i <= degree; ++i) step(l, v, i == 2 ? v.b : v.r, i, degree, 0);
  }
  /// x <- x + p(A) (b - A x).
  void smooth(const level<W>& l, vectors& v) const {
    const W c = static_cast<W>(h_.steps.first() / l.lambda), beta = static_cast<W>(h_.steps.beta(degree_, 1));
    product(l, v, v.x, [&](index_t first, index_t count, W* sum) FURROW_INLINE {
      for (index_t i = 0; i < count; ++i) sum[i] = v.r[first + i] = v.b[first + i] - sum[i];
      times_inverse(l.inverse.data(), l.block, first, first + count, sum, v.z.data() + first);
      for (index_t i = 0; i < count; ++i) v.z[first + i] *= c;
    });
    if (degree_ == 1)
      cpu::for_each_range(l.size(), grain, [&](index_t first, index_t last) {
        for (index_t i = first; i < last; ++i) v.x[i] += beta * v.z[i];
      });
    for (int i = 2; i <= degree_; ++i)
      step(l, v, v.r, i, degree_, i == 2 ? beta : W(0)); // x waits for the first beta z
  }
  /// r = old r - A z; z = keep z + gain D^-1 r; x += late (the z before) + beta z.
  void step(const level<W>& l, vectors& v, const host_array<W>& old, int i, int degree, W late) const {
    const W keep = static_cast<W>(h_.steps.keep(i)), gain = static_cast<W>(h_.steps.gain(i) / l.lambda);
    const W beta = static_cast<W>(h_.steps.beta(degree, i));
    product(l, v, v.z, [&](index_t first, index_t count, W* sum) FURROW_INLINE {
      alignas(64) W d[chunk];
      for (index_t k = 0; k < count; ++k) sum[k] = v.r[first + k] = old[first + k] - sum[k];
      times_inverse(l.inverse.data(), l.block, first, first + count, sum, d);
      for (index_t k = 0; k < count; ++k) {
        const W z = v.z[first + k], next = keep * z + gain * d[k];
        v.next[first + k] = next;
        v.x[first + k] += late * z + beta * next;
      }
    });
    std::swap(v.z, v.next);
  }
  /// x = A^-1 b on the coarsest level.
  void solve(vectors& v) const {
    const index_t n = v.b.size();
    cpu::for_each_range(n, 64, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) {
        const W* const row = h_.coarsest.data() + i * n;
        W sum = 0;
#pragma omp simd reduction(+ : sum)
        for (index_t j = 0; j < n; ++j) sum += row[j] * v.b[j];
        v.x[i] = sum;
      }
    });
  }

  const hierarchy<W>& h_;
  int degree_;
  std::size_t inner_;
  std::vector<vectors> work_;
  cpu::space<W> space_;
};

} // namespace furrow::amg
