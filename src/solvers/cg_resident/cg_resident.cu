// SPDX-License-Identifier: BSD-3-Clause
#include "cg_resident.hpp"
#include "kernel.hpp"

#include "backends/gpu/occupancy.hpp"
#include "backends/gpu/space.hpp"
#include "backends/gpu/together.hpp"
#include "matrix/rows.hpp"
#include "solvers/cg/cg.hpp"

#include <utility>
#include <vector>

namespace furrow::resident {
namespace {

using judge_of = control::until<cg_scalars::judge>;
template <class V> using kernel_type = void (*)(arguments<V>, judge_of);

template <class T> gpu_array<T> sent(cview<T> v) {
  gpu_array<T> a(v.size);
  copy_bytes(gpu_memory{}, a.data(), host_memory{}, v.data, a.byte_count());
  return a;
}
template <class T> gpu_array<T> sent(const std::vector<T>& v) {
  return sent(cview<T>{v.data(), static_cast<index_t>(v.size())});
}
template <class T> gpu_array<T> zeros(index_t n) {
  gpu_array<T> a(n);
  gpu::fill_bytes(a, 0);
  return a;
}

/// A as the blocks keep it, and the words by which they talk.
template <class V> class resident_rows final : public solver_keeps {
public:
  resident_rows(const row_view<V>& a, const chip& c) : resident_rows(a, make_plan(a.row_ptr, a.col, sizeof(V), c), c) {}

  double stored_bytes() const override {
    return double(row_ptr_.byte_count() + col_.byte_count() + val_.byte_count() + first_.byte_count() +
                  halo_first_.byte_count() + halo_.byte_count() + sums_.byte_count() + z_.byte_count());
  }
  void describe(solve_report&) const override {}

  /// Enqueues at most so many steps.
  void start(const judge_of& until, cview<V> d, view<V> x, view<V> r, view<V> p, index_t steps) {
    const arguments<V> g{
        .row_ptr = row_ptr_.data(),
        .col = col_.data(),
        .first = first_.data(),
        .halo_first = halo_first_.data(),
        .halo = halo_.data(),
        .val = val_.data(),
        .d = d,
        .x = x,
        .r = r,
        .p = p,
        .slots = until.s,
        .sums = sums_.data(),
        .z = z_.data(),
        .stamp = stamp_,
        .steps = steps,
        .inside = plan_.inside,
        .lanes = plan_.lanes,
    };
    gpu::launch_together(kernel_, static_cast<unsigned>(plan_.blocks()), static_cast<unsigned>(threads),
                         static_cast<std::size_t>(plan_.bytes), gpu::current_queue(), g, until);
    stamp_ += static_cast<std::uint64_t>(steps) + 1;
  }
  /// What a step moves through the second cache: z to and from it, sums to it and from it to all, and A where it lies
  /// outside the chip.
  double bytes_of_step() const {
    const double blocks = plan_.blocks();
    return double(z_.size() + halo_.size()) * sizeof(word<V>) + 2 * blocks * blocks * sizeof(sum_word) +
           (plan_.inside ? 0 : double(val_.byte_count() + col_.byte_count()));
  }

private:
  resident_rows(const row_view<V>& a, plan p, const chip& c)
      : plan_(fitting(std::move(p), a, c)), kernel_(kernel_for<V, judge_of>(plan_)), row_ptr_(sent(a.row_ptr)),
        col_(sent(plan_.col)), first_(sent(plan_.first)), halo_first_(sent(plan_.halo_first)), halo_(sent(plan_.halo)),
        val_(sent(a.val)), sums_(zeros<sum_word>(sum_words::count)), z_(zeros<word<V>>(a.shape.rows)) {
    plan_.col = {}, plan_.halo = {};
    gpu::allow_shared_memory(kernel_, static_cast<int>(c.block_bytes));
    if (plan_.fits() && gpu::resident_blocks(kernel_, threads, static_cast<int>(plan_.bytes)) < 1)
      does_not_run(plan_.bytes);
  }

  static plan fitting(plan p, const row_view<V>& a, const chip& c) {
    if (!p.fits() && a.shape.rows > 0) does_not_fit(a.shape.rows, a.nnz(), c);
    return p;
  }

  plan plan_; ///< without what lies on the GPU
  kernel_type<V> kernel_;
  gpu_array<index_t> row_ptr_;
  gpu_array<std::uint16_t> col_;
  gpu_array<std::int32_t> first_, halo_first_, halo_;
  gpu_array<V> val_;
  gpu_array<sum_word> sums_;
  gpu_array<word<V>> z_;
  std::uint64_t stamp_ = 0; ///< of the last step that may have been made
};

/// In place of the loop that a space makes.
template <class V> struct resident_loop {
  resident_rows<V>& rows;
  judge_of until;
  cview<V> d;
  view<V> x, r, p;

  void start(index_t steps) { rows.start(until, d, x, r, p, steps); }
};

template <class V> class resident_conjugate_gradients : public conjugate_gradients<gpu::space<V>> {
  using base = conjugate_gradients<gpu::space<V>>;

public:
  resident_conjugate_gradients(gpu::space<V>& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options), rows_(static_cast<resident_rows<V>&>(*system.kept)) {}

  solve_report run() { return base::run_as(*this); }
  resident_loop<V> loop(const judge_of& until) {
    const cview<V> d = base::diagonal() ? base::m_.diagonal() : cview<V>{};
    return {rows_, until, d, base::x_, base::it_.r(), as_view(base::p_)};
  }
  index_t first_chunk() const { return 256; }
  double bytes_per_iteration() const { return rows_.bytes_of_step(); }

private:
  resident_rows<V>& rows_;
};

} // namespace

/// One block a multiprocessor, with all of its shared memory but what the kernel has for itself.
chip chip_of(device where) {
  if (!where.is_gpu()) return {};
  const gpu::selected_device there(where.ordinal);
  const gpu::queue& q = gpu::current_queue();
  return {q.multiprocessors, gpu::shared_memory_of(q).of_a_block - own_bytes};
}

template <class V> std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>& a, device where) {
  const rows_of_triplets<V> rows(a);
  return std::make_unique<resident_rows<V>>(rows.view(), chip_of(where));
}
template <class V> solve_report run(const linear_system<V>& system, const solve_options& options) {
  gpu::space<V> space;
  return resident_conjugate_gradients<V>(space, system, options).run();
}

template std::unique_ptr<solver_keeps> keep_on_chip(const coo<double>&, device);
template std::unique_ptr<solver_keeps> keep_on_chip(const coo<float>&, device);
template solve_report run(const linear_system<double>&, const solve_options&);
template solve_report run(const linear_system<float>&, const solve_options&);

} // namespace furrow::resident
