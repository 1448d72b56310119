// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "independent_set.hpp"
#include "lanczos.hpp"
#include "row_pass.hpp"

#include "backends/gpu/primitives.hpp"
#include "backends/gpu/space.hpp"

#include <utility>
#include <vector>

namespace furrow::amg {

namespace lanczos_step {

/// u is random, v = D^-1 u; sums v'u. Of blocks D^-1 is the business of another pass.
struct random_start {
  static constexpr int reads = 1, writes = 2;
  const double* inverse;
  double *u, *v;
  int block;
  index_t first; ///< row of this part
  FURROW_HD void load() {}
  FURROW_HD double at(index_t i) const { return inverse[i * block + i % block]; }
  FURROW_HD void operator()(index_t i, double own, sums<1> sum) const {
    const double random = (unit(randomness(0).at(first + i)) - 0.5) / sqrt(own);
    u[i] = random, v[i] = own * random;
    sum[0] += own * random * random;
  }
};
struct pair_of_vectors {
  double u, v;
};
/// v and u of length 1.
struct scale_both {
  static constexpr int reads = 2, writes = 2;
  const double* squares;
  double *u, *v;
  double factor = 0;
  FURROW_HD void load() { factor = 1 / sqrt(*squares); }
  FURROW_HD pair_of_vectors at(index_t i) const { return {u[i], v[i]}; }
  FURROW_HD void operator()(index_t i, pair_of_vectors own, sums<0>) const {
    u[i] = own.u * factor, v[i] = own.v * factor;
  }
};
/// v = D^-1 u for nodes of several unknowns; sums v'u.
struct solve_blocks {
  static constexpr int reads = 2, writes = 1;
  const double *inverse, *u;
  double* v;
  int block;
  FURROW_HD void load() {}
  FURROW_HD double at(index_t i) const {
    double sum = 0;
    for (int l = 0; l < block; ++l) sum += gpu::product(inverse[i * block + l], u[i / block * block + l]);
    return sum;
  }
  FURROW_HD void operator()(index_t i, double own, sums<1> sum) const {
    v[i] = own;
    sum[0] += own * u[i];
  }
};
/// old u <- w - a u - b old u, the next u; v = D^-1 times it; sums their product. Of blocks as `random_start`.
struct next_vectors {
  static constexpr int reads = 4, writes = 2;
  struct values {
    double inverse, w, u, old_u;
  };
  const double *alpha, *squares; ///< squares null: b = 0
  const double *inverse, *w, *u;
  double *old_u, *v;
  int block;
  double a = 0, b = 0;
  FURROW_HD void load() { a = *alpha, b = squares ? sqrt(*squares) : 0; }
  FURROW_HD values at(index_t i) const { return {inverse[i * block + i % block], w[i], u[i], old_u[i]}; }
  FURROW_HD void operator()(index_t i, values own, sums<1> sum) const {
    const double next = own.w - a * own.u - b * own.old_u;
    old_u[i] = next, v[i] = own.inverse * next;
    sum[0] += own.inverse * next * next;
  }
};
struct keep_product {
  static constexpr bool smooths = false;
  double* w;
  FURROW_HD void operator()(index_t i, double sum) const { w[i] = sum; }
};

} // namespace lanczos_step

/// The vectors of `run_lanczos` for D^-1 A on the current GPU. product(x, step): a row pass of A x. The numbers stay
/// beside the vectors: ten steps are under way before the host waits for theirs, and then some at a time; what comes
/// behind the last one that counts is of no use. On ranks the space is theirs, and all of them take the same steps.
template <class Product, class Space = gpu::space<double>> class gpu_lanczos {
public:
  /// inverse: of the diagonal blocks, block numbers a row. first: of all rows, the one that is the first here.
  gpu_lanczos(const gpu_array<double>& inverse, Product product, int block = 1, Space space = {}, index_t first = 0)
      : inverse_(inverse), product_(std::move(product)), block_(block), n_(inverse.size() / block), first_(first),
        space_(std::move(space)), v_(n_), u_(n_), w_(n_), old_u_(n_), slots_(space_.make_slots(2 * most_steps + 1)) {
    gpu::fill_bytes(old_u_, 0);
  }

  double start() {
    space_.sweep(n_, lanczos_step::random_start{inverse_.data(), u_.data(), v_.data(), block_, first_}, squares(0));
    solve(0);
    take_steps(10);
    return known_[0];
  }
  double multiply(double) {
    if (step_ == enqueued_) take_steps(4);
    return known_[most_steps + 1 + step_];
  }
  double advance(double, double) { return known_[++step_]; }

private:
  static constexpr int most_steps = 40; ///< 10 and some times 4, more than 30

  slot squares(int step) { return slot{slots_.data() + step}; } ///< v'u before the step
  slot alpha(int step) { return slot{slots_.data() + most_steps + 1 + step}; }

  void solve(int step) {
    if (block_ == 1) return;
    space_.sweep(n_, lanczos_step::solve_blocks{inverse_.data(), u_.data(), v_.data(), block_}, squares(step));
  }
  void take_steps(int count) {
    using namespace lanczos_step;
    for (int k = enqueued_; k < enqueued_ + count; ++k) {
      space_.sweep(n_, scale_both{squares(k).at, u_.data(), v_.data()});
      product_(as_cview(v_), keep_product{w_.data()});
      space_.dot(as_cview(v_), as_cview(w_), alpha(k));
      space_.sweep(n_,
                   next_vectors{alpha(k).at, k > 0 ? squares(k).at : nullptr, inverse_.data(), w_.data(), u_.data(),
                                old_u_.data(), v_.data(), block_},
                   squares(k + 1));
      std::swap(u_, old_u_);
      solve(k + 1);
    }
    enqueued_ += count;
    known_.resize(static_cast<std::size_t>(slots_.size()));
    space_.fetch(as_cview(slots_), {known_.data(), slots_.size()});
  }

  const gpu_array<double>& inverse_;
  Product product_;
  int block_;
  index_t n_, first_;
  Space space_;
  gpu_array<double> v_, u_, w_, old_u_, slots_;
  std::vector<double> known_; ///< the slots, in host memory
  int enqueued_ = 0, step_ = 0;
};

} // namespace furrow::amg
