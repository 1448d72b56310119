// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "inner_steps.hpp"

#include "backends/gpu/space.hpp"
#include "solvers/pass.hpp"

#include <utility>

namespace furrow::amg {

namespace inner_steps {

/// Sums x'image, x'b, b'b.
template <class W> struct measure_first {
  FURROW_HD void load() {}
  FURROW_HD void operator()(W x, W image, W b, sums<3> sum) const {
    sum[0] += double(x) * double(image);
    sum[1] += double(x) * double(b);
    sum[2] += double(b) * double(b);
  }
};

/// b -= step image; sums b'b.
template <class W> struct use_up {
  const double* slots;
  W step = 0;
  FURROW_HD void load() { step = static_cast<W>(first_step(slots)); }
  FURROW_HD void operator()(W& b, W image, sums<1> sum) const {
    b -= step * image;
    sum[0] += double(b) * double(b);
  }
};

/// Sums x'image, x'(A x), x'b.
template <class W> struct measure_second {
  FURROW_HD void load() {}
  FURROW_HD void operator()(W x, W image, W own, W b, sums<3> sum) const {
    sum[0] += double(x) * double(image);
    sum[1] += double(x) * double(own);
    sum[2] += double(x) * double(b);
  }
};

/// x = before first + again x.
template <class W> struct put_together {
  const double* slots;
  W before = 1, again = 0;
  FURROW_HD void load() {
    const weights w = weights_of(slots);
    before = static_cast<W>(w.first), again = static_cast<W>(w.second);
  }
  FURROW_HD void operator()(W& x, W first, sums<0>) const {
    x = again == W(0) ? before * first : before * first + again * x;
  }
};

} // namespace inner_steps

/// What a level of a K-cycle has beside the others, on the current GPU: the direction of the first step, A times it,
/// and their sums, which the host never sees.
template <class W> class inner_level_on_gpu {
public:
  explicit inner_level_on_gpu(index_t rows)
      : first_(rows), image_(rows), slots_(gpu::space<W>().make_slots(inner_steps::slot_count)) {}
  bool empty() const { return first_.empty(); }

  /// x, near A^-1 b, by two steps of flexible conjugate gradients. visit(): x <- M b; times(x, y): y <- A x; b is used
  /// up, work is written to. The second step is always made, and has no weight where the first left less than a quarter
  /// of the residual: to leave it out the host would have to look.
  template <class Visit, class Times>
  void correct(gpu_array<W>& b, gpu_array<W>& x, gpu_array<W>& work, Visit visit, Times times) {
    using namespace inner_steps;
    gpu::space<W> space;
    const index_t n = b.size();
    visit();
    times(x, image_);
    space.sweep(n, pass(measure_first<W>{}, read(x), read(image_), read(b)), at(energy), at(aimed), at(size));
    space.sweep(n, pass(use_up<W>{slots_.data()}, both(as_view(b)), read(image_)), at(left));
    std::swap(x, first_);
    visit();
    times(x, work);
    space.sweep(n, pass(measure_second<W>{}, read(x), read(image_), read(work), read(b)), at(mixed), at(own),
                at(aimed_again));
    space.sweep(n, pass(put_together<W>{slots_.data()}, both(as_view(x)), read(first_)));
  }

private:
  static pass_in<W> read(const gpu_array<W>& v) { return in(as_cview(v)); }
  slot at(inner_steps::slot_name name) { return slot{slots_.data() + name}; }

  gpu_array<W> first_, image_;
  gpu_array<double> slots_;
};

} // namespace furrow::amg
