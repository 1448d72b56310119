// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_far_pass.hpp"
#include "gpu_kit.hpp"

#include "preconditioners/amg/chebyshev.hpp"
#include "preconditioners/amg/gpu_cycle_steps.hpp"

#include <memory>
#include <utility>

namespace furrow::amg {

namespace far_steps {

/// What entries in columns of others add to the work of a step: it is linear in the sum of a row.
template <class W> struct more_residual {
  gpu_cycle::find_residual<W> step;
  FURROW_HD void operator()(index_t i, W more) const { step.r[i] -= more; }
};
/// Of a step of smoothing that puts z, or the next one, and adds to x.
template <class W> struct more_smoothing {
  W gain, beta;
  const W* inverse;
  W *r, *z, *x;
  FURROW_HD void operator()(index_t i, W more) const {
    const W by = gain * (inverse[i] * more);
    r[i] -= more;
    z[i] -= by;
    x[i] -= beta * by;
  }
};

/// y = R x in another precision.
template <class W, class To> struct put_as {
  static constexpr bool smooths = false;
  To* y;
  FURROW_HD void operator()(index_t i, W sum) const { y[i] = To(sum); }
};
/// Of a product that is put, or added.
template <class W, class To> struct more_of {
  To* y;
  FURROW_HD void operator()(index_t i, W more) const { y[i] += To(more); }
};

} // namespace far_steps

/// A level among ranks with a GPU each, in the hands of one: A times a power of two, and the vectors of a cycle. All
/// ranks call its functions together; they enqueue, and wait only where the GPUs talk through the host.
template <class W> class level_on_gpus {
public:
  level_on_gpus(gpu::link& between, level_of_rank<W> level)
      : all_(std::move(level)), near_(all_.near), halo_(between.make_halo(all_.plan, W())),
        corrections_(between.make_halo(all_.way, W())), n_(near_.size()), b_(n_), x_(n_), next_x_(n_), r_(n_), z_(n_),
        next_(n_) {}
  level_on_gpus(const level_on_gpus&) = delete;

  view<W> b() { return as_view(b_); }
  cview<W> x() const { return as_cview(x_); }
  double stored_bytes() const {
    return byte_count(near_) + all_.a.stored_bytes() + all_.p.stored_bytes() + all_.r.stored_bytes() +
           double(b_.byte_count()) * 6;
  }

  /// x = p(A) b.
  void smooth_from_zero(int degree) {
    const W first = static_cast<W>(chebyshev::first / near_.lambda), beta = static_cast<W>(chebyshev::beta(degree, 1));
    gpu::space<W>().sweep(
        n_, gpu_cycle::smooth_zero<W>{first, beta, near_.inverse.data(), b_.data(), z_.data(), x_.data(), 1});
    for (int i = 2; i <= degree; ++i) go_on(i == 2 ? b_ : r_, i, degree);
  }
  /// x += p(A) (b - A x).
  void smooth(int degree) {
    const W first = static_cast<W>(chebyshev::first / near_.lambda), beta = static_cast<W>(chebyshev::beta(degree, 1));
    const gpu_cycle::begin_smoothing<W> step{first, beta, b_.data(), x_.data(), r_.data(), z_.data(), next_x_.data()};
    product(x_, step,
            far_steps::more_smoothing<W>{first, beta, near_.inverse.data(), r_.data(), z_.data(), next_x_.data()});
    std::swap(x_, next_x_);
    for (int i = 2; i <= degree; ++i) go_on(r_, i, degree);
  }
  /// to = P' (b - A x).
  template <class To> void restrict_to(view<To> to) {
    const gpu_cycle::find_residual<W> step{b_.data(), r_.data()};
    product(x_, step, far_steps::more_residual<W>{step});
    with_others(*halo_, as_cview(r_), all_.r, far_steps::more_of<W, To>{to.data}, [&](const gpu::queue& q) {
      if (near_.r.shape.rows > 0) // a rank may have no aggregate
        row_pass(q, near_.r, cview<W>{}, 1, as_cview(r_), far_steps::put_as<W, To>{to.data});
    });
  }
  /// x += P c.
  void add_prolonged(cview<W> c) {
    with_others(*corrections_, c, all_.p, far_steps::more_of<W, W>{x_.data()}, [&](const gpu::queue& q) {
      if (!near_.p.val.empty()) row_pass(q, near_.p, cview<W>{}, 1, c, gpu_cycle::correct<W>{x_.data()});
    });
  }

private:
  /// x goes to the neighbours while own(q) multiplies the rank's own columns.
  template <class Far, class More, class Own>
  void with_others(gpu::halo_on_gpu<W>& halo, cview<W> x, const Far& far, More more, Own own) {
    const gpu::queue& q = gpu::current_queue();
    halo.start(x, q);
    own(q);
    far_pass(q, far.seen(), double(far.values.size()), halo.finish(), more);
  }
  template <class Step, class More> void product(const gpu_array<W>& x, Step step, More more) {
    with_others(*halo_, as_cview(x), all_.a, more, [&](const gpu::queue& q) {
      if (near_.by_diagonals()) row_pass(q, near_.diagonals, as_cview(near_.inverse), as_cview(x), step);
      else if (n_ > 0) row_pass(q, near_.a, as_cview(near_.inverse), 1, as_cview(x), step);
    });
  }
  void go_on(const gpu_array<W>& old, int i, int degree) {
    const W keep = static_cast<W>(chebyshev::keep(i)), gain = static_cast<W>(chebyshev::gain(i) / near_.lambda);
    const gpu_cycle::go_on_smoothing<W> step{keep,         gain,      static_cast<W>(chebyshev::beta(degree, i)),
                                             old.data(),   z_.data(), r_.data(),
                                             next_.data(), x_.data()};
    product(z_, step,
            far_steps::more_smoothing<W>{gain, step.beta, near_.inverse.data(), r_.data(), next_.data(), x_.data()});
    std::swap(z_, next_);
  }

  level_of_rank<W> all_;
  const level<W, gpu_array>& near_;
  std::unique_ptr<gpu::halo_on_gpu<W>> halo_, corrections_;
  index_t n_;
  gpu_array<W> b_, x_, next_x_, r_, z_, next_;
};

} // namespace furrow::amg
