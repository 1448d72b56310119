// SPDX-License-Identifier: BSD-3-Clause
#include "cg_resident.hpp"
#include "kept.hpp"
#include "kernel.hpp"

#include "solvers/cg/cg.hpp"

namespace furrow::resident {
namespace {

using judge_of = control::until<cg_scalars::judge>;

template <class V> class resident_rows final : public kept_system<V> {
  using base = kept_system<V>;

public:
  resident_rows(const row_view<V>& a, const chip& c)
      : base(a, make_plan(a.row_ptr, a.col, sizeof(V), c, layout), c, cg_names, sum_words::count, 1),
        kernel_(base::running(resident::kernel_for<V, judge_of>(base::where()), c)) {}

  /// Enqueues at most so many steps.
  void start(const judge_of& until, cview<V> d, view<V> x, view<V> r, view<V> p, index_t steps) {
    base::launch(kernel_, arguments<V>{base::next_run(until.s, d, steps), x, r, p, base::words(0)}, until);
  }
  double bytes_of_step() const { return base::bytes_of_step(1, 2, 1); }

private:
  void (*kernel_)(arguments<V>, judge_of);
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
