// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_cycle.hpp"

#include "gpu_cycle_steps.hpp"
#include "gpu_inner.hpp"
#include "grid/gpu_transfer.hpp"
#include "row_pass.hpp"

#include "backends/gpu/space.hpp"
#include "preconditioners/new_values.hpp"

#include <furrow/device.hpp>
#include <furrow/storage.hpp>

#include <utility>
#include <vector>

namespace furrow::amg {
namespace gpu_cycle {

/// x = T b for a dense T, a warp a row.
template <class W>
__global__ void __launch_bounds__(pass_threads) dense_product(index_t n, const W* t, const W* b, W* x) {
  gpu::take_turn();
  const index_t i = (index_t(blockIdx.x) * pass_threads + threadIdx.x) / gpu::warp;
  if (i >= n) return; // whole warps
  W sum = 0;
  for (index_t j = threadIdx.x % gpu::warp; j < n; j += gpu::warp) sum += t[i * n + j] * b[j];
  sum = gpu::sum_lanes<gpu::warp>(sum);
  if (threadIdx.x % gpu::warp == 0) x[i] = sum;
}

template <class V, class W> class cycle final : public any_preconditioner<V>, public takes_new_values<V> {
public:
  cycle(hierarchy<W, gpu_array> h, int degree, spoken words, std::unique_ptr<device_renewal<W>> renews,
        std::size_t inner)
      : h_(std::move(h)), degree_(degree), inner_(inner), words_(std::move(words)), renews_(std::move(renews)),
        squares_(gpu::space<V>().make_slots(1)) {
    begin();
  }

  void apply(cview<V> r, view<V> z) const override {
    gpu::space<V> space;
    space.dot(r, r, slot{squares_.data()});
    space.sweep(r.size, narrow<V, W>{squares_.data(), r, as_view(work_[0].b)});
    visit(0);
    space.sweep(z.size, widen<V, W>{squares_.data(), h_.scale, as_cview(work_[0].x), z});
  }
  bool update(const coo<V>& a, solver_needs needed) override { return update_from_rows(send_rows(a), needed); }
  bool update_from_rows(const rows_on_gpu<V>& a, solver_needs needed) override {
    if (!renews_ || a.shape.rows != h_.levels[0].size() || a.nnz() > gpu::most_entries) return false;
    if (!has_symmetric_levels(a, needed)) return false;
    const auto in_single = fits_single(a);
    if (!in_single || *in_single != (sizeof(W) == 4)) return false;
    // What is kept, and what takes part while it is made.
    const double taken = 75 * double(a.nnz()) + 120 * double(a.shape.rows);
    if (taken > double(available_gpu_memory(gpu::current_queue().ordinal))) return false;
    const auto outcome = renews_->renew(a, h_);
    if (outcome == renewal_outcome::remade) begin();
    return outcome != renewal_outcome::failed;
  }
  double stored_bytes() const override {
    double bytes = 0;
    for (const multigrid_level& f : h_.facts) bytes += f.bytes;
    return bytes;
  }
  std::string describe() const override { return about_; }
  std::vector<multigrid_level> levels() const override { return h_.facts; }

private:
  using level_there = level<W, gpu_array>;
  struct vectors {
    grid_transfer_on_gpu<W> way;
    gpu_array<W> b, x, next_x, r, z, next;
    inner_level_on_gpu<W> inner;
  };

  void begin() {
    about_ = sentence(h_.facts, h_.reason, words_, degree_, 8 * sizeof(W));
    work_.clear();
    for (std::size_t k = 0; k < h_.levels.size(); ++k) {
      const level_there& l = h_.levels[k];
      const index_t n = l.size();
      const bool in_steps = k >= 1 && k <= inner_ && !l.last();
      work_.push_back({grid_transfer_on_gpu<W>(l.axes), gpu_array<W>(n), gpu_array<W>(n), gpu_array<W>(n),
                       gpu_array<W>(n), gpu_array<W>(n), gpu_array<W>(n), inner_level_on_gpu<W>(in_steps ? n : 0)});
    }
  }

  void visit(std::size_t k) const {
    const level_there& l = h_.levels[k];
    vectors& v = work_[k];
    const gpu::queue& q = gpu::current_queue();
    if (l.last() && !h_.coarsest.empty()) {
      const index_t n = l.size();
      gpu::launch(dense_product<W>, static_cast<unsigned>((n * gpu::warp + pass_threads - 1) / pass_threads),
                  pass_threads, 0, q, n, h_.coarsest.data(), v.b.data(), v.x.data());
      return;
    }
    smooth_from_zero(l, v, l.last() ? most_degree : degree_);
    if (l.last()) return;
    vectors& c = work_[k + 1];
    product(l, v.x, find_residual<W>{v.b.data(), v.r.data()});
    if (l.axes.empty()) row_pass(q, l.r, cview<W>{}, 1, as_cview(v.r), put<W>{c.b.data()});
    else v.way.restrict_to(l.axes, v.r.data(), c.b.data());
    answer(k + 1);
    if (l.axes.empty()) row_pass(q, l.p, cview<W>{}, 1, as_cview(c.x), correct<W>{v.x.data()});
    else v.way.add_prolonged(l.axes, c.x.data(), v.x.data());
    smooth(l, v);
  }
  /// x, near A^-1 b, by one visit, or by steps whose preconditioner is a visit.
  void answer(std::size_t k) const {
    vectors& v = work_[k];
    if (v.inner.empty()) return visit(k);
    v.inner.correct(
        v.b, v.x, v.r, [&] { visit(k); },
        [&](const gpu_array<W>& x, gpu_array<W>& y) { product(h_.levels[k], x, put<W>{y.data()}); });
  }

  template <class Step> static void product(const level_there& l, const gpu_array<W>& x, Step step) {
    const gpu::queue& q = gpu::current_queue();
    if (l.by_diagonals()) row_pass(q, l.diagonals, as_cview(l.inverse), as_cview(x), step);
    else row_pass(q, l.a, as_cview(l.inverse), l.block, as_cview(x), step);
  }

  /// x <- p(A) b from x = 0.
  void smooth_from_zero(const level_there& l, vectors& v, int degree) const {
    const W first = static_cast<W>(h_.steps.first() / l.lambda), beta = static_cast<W>(h_.steps.beta(degree, 1));
    gpu::space<W>().sweep(l.size(),
                          smooth_zero<W>{first, beta, l.inverse.data(), v.b.data(), v.z.data(), v.x.data(), l.block});
    for (int i = 2; i <= degree; ++i) step(l, v, i == 2 ? v.b : v.r, i, degree);
  }
  /// x <- x + p(A) (b - A x).
  void smooth(const level_there& l, vectors& v) const {
    const W first = static_cast<W>(h_.steps.first() / l.lambda), beta = static_cast<W>(h_.steps.beta(degree_, 1));
    product(l, v.x, begin_smoothing<W>{first, beta, v.b.data(), v.x.data(), v.r.data(), v.z.data(), v.next_x.data()});
    std::swap(v.x, v.next_x);
    for (int i = 2; i <= degree_; ++i) step(l, v, v.r, i, degree_);
  }
  void step(const level_there& l, vectors& v, const gpu_array<W>& old, int i, int degree) const {
    const W keep = static_cast<W>(h_.steps.keep(i)), gain = static_cast<W>(h_.steps.gain(i) / l.lambda);
    const W beta = static_cast<W>(h_.steps.beta(degree, i));
    product(l, v.z,
            go_on_smoothing<W>{keep, gain, beta, old.data(), v.z.data(), v.r.data(), v.next.data(), v.x.data()});
    std::swap(v.z, v.next);
  }

  hierarchy<W, gpu_array> h_;
  int degree_;
  std::size_t inner_;
  spoken words_;
  std::unique_ptr<device_renewal<W>> renews_;
  std::string about_;
  mutable gpu_array<double> squares_; ///< r'r
  mutable std::vector<vectors> work_;
};

} // namespace gpu_cycle

template <class V, class W>
std::unique_ptr<any_preconditioner<V>> multigrid_on_gpu(hierarchy<W, gpu_array> h, int degree, spoken words,
                                                        std::unique_ptr<device_renewal<W>> renews, std::size_t inner) {
  return std::make_unique<gpu_cycle::cycle<V, W>>(std::move(h), degree, std::move(words), std::move(renews), inner);
}
#define FURROW_CYCLE(V, W)                                                                                             \
  template std::unique_ptr<any_preconditioner<V>> multigrid_on_gpu(hierarchy<W, gpu_array>, int, spoken,               \
                                                                   std::unique_ptr<device_renewal<W>>, std::size_t);
FURROW_CYCLE(double, float)
FURROW_CYCLE(double, double)
FURROW_CYCLE(float, float)
FURROW_CYCLE(float, double)
#undef FURROW_CYCLE

} // namespace furrow::amg
