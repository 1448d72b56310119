// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab_resident.hpp"
#include "kernel.hpp"

#include "solvers/bicgstab/bicgstab.hpp"
#include "solvers/cg_resident/kept.hpp"

namespace furrow::resident::stabilised {
namespace {

using judge_of = control::until<bicgstab_steps::judge>;

template <class V> class resident_rows final : public kept_system<V> {
  using base = kept_system<V>;

public:
  resident_rows(const row_view<V>& a, const chip& c)
      : base(a, make_plan(a.row_ptr, a.col, sizeof(V), c, layout), c, bicgstab_names, sum_words::count, 2),
        kernel_(base::running(stabilised::kernel_for<V, judge_of>(base::where()), c)) {}

  /// Enqueues at most so many steps.
  void start(const judge_of& until, cview<V> d, view<V> x, view<V> r, view<V> p, cview<V> shadow, index_t steps) {
    base::launch(kernel_,
                 arguments<V>{base::next_run(until.s, d, steps), x, r, p, shadow, base::words(0), base::words(1)},
                 until);
  }
  double bytes_of_step() const { return base::bytes_of_step(2, product_count + 2, 2); }

private:
  void (*kernel_)(arguments<V>, judge_of);
};

/// In place of the loop that a space makes.
template <class V> struct resident_loop {
  resident_rows<V>& rows;
  judge_of until;
  cview<V> d;
  view<V> x, r, p;
  cview<V> shadow;

  void start(index_t steps) { rows.start(until, d, x, r, p, shadow, steps); }
};

template <class V> class resident_bicgstab : public stabilised_bicg<gpu::space<V>> {
  using base = stabilised_bicg<gpu::space<V>>;

public:
  resident_bicgstab(gpu::space<V>& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options), rows_(static_cast<resident_rows<V>&>(*system.kept)) {}

  solve_report run() { return base::run_iteration(*this); }
  resident_loop<V> loop(const judge_of& until) {
    const cview<V> d = base::diagonal() ? base::m_.diagonal() : cview<V>{};
    return {rows_, until, d, base::x_, base::it_.r(), as_view(base::p_), as_cview(base::shadow_)};
  }
  index_t first_chunk() const { return 256; }
  double bytes_per_iteration() const { return rows_.bytes_of_step(); }

private:
  resident_rows<V>& rows_;
};

} // namespace

template <class V> std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>& a, device where) {
  const rows_of_triplets<V> rows(a);
  return std::make_unique<resident_rows<V>>(rows.view(), chip_of(where));
}
template <class V> solve_report run(const linear_system<V>& system, const solve_options& options) {
  gpu::space<V> space;
  return resident_bicgstab<V>(space, system, options).run();
}

template std::unique_ptr<solver_keeps> keep_on_chip(const coo<double>&, device);
template std::unique_ptr<solver_keeps> keep_on_chip(const coo<float>&, device);
template solve_report run(const linear_system<double>&, const solve_options&);
template solve_report run(const linear_system<float>&, const solve_options&);

} // namespace furrow::resident::stabilised
