// SPDX-License-Identifier: BSD-3-Clause
#include "cg_resident.hpp"
#include "kept.hpp"
#include "polynomial_shares.hpp"
#include "shares.hpp"

#include "solvers/cg/cg.hpp"

#include <furrow/assemble.hpp>

namespace furrow::resident {
namespace {

using judge_of = control::until<cg_scalars::judge>;

/// What makes steps on the chip.
template <class V> struct resident_rows : kept_system<V> {
  using kept_system<V>::kept_system;
  /// Enqueues at most so many steps.
  virtual void start(const judge_of& until, const any_preconditioner<V>& m, view<V> x, view<V> r, view<V> p,
                     index_t steps) = 0;
  virtual double moved_by_step() const = 0; ///< bytes
};

template <class V> class rows_for_diagonals final : public resident_rows<V> {
  using base = kept_system<V>;

public:
  rows_for_diagonals(const row_view<V>& a, const chip& c)
      : resident_rows<V>(a, make_plan(a.row_ptr, a.col, sizeof(V), c, layout), c, cg_names, sum_words::count, 1),
        kernel_(base::running(resident::kernel_for<V, judge_of>(base::where()), c)) {}

  void start(const judge_of& until, const any_preconditioner<V>& m, view<V> x, view<V> r, view<V> p,
             index_t steps) override {
    const bool diagonal = m.what() == any_preconditioner<V>::kind::diagonal;
    const auto g = base::next_run(until.s, diagonal ? m.diagonal() : cview<V>{}, steps);
    base::launch(kernel_, arguments<V>{g, x, r, p, base::words(0)}, until);
  }
  double moved_by_step() const override { return base::bytes_of_step(1, 2, 1); }

private:
  void (*kernel_)(arguments<V>, judge_of);
};

template <class V> class rows_for_polynomials final : public resident_rows<V> {
  using base = kept_system<V>;
  using known = chebyshev_preconditioner::known_polynomial<V>;

public:
  rows_for_polynomials(const row_view<V>& a, const known& m, const chip& c)
      : resident_rows<V>(a, make_plan(a.row_ptr, a.col, sizeof(V), c, polynomial_layout), c, cg_names, sum_words::count,
                         m.terms()),
        kernel_(base::running(polynomial::kernel_for<V, judge_of>(base::where()), c)) {
    chebyshev_preconditioner::recurrence by(m.largest_eigenvalue());
    coefficients_.terms = static_cast<int>(m.terms());
    coefficients_.first = V(by.first());
    for (int k = 1; k < coefficients_.terms; ++k) {
      const auto [keep, add] = by.next();
      coefficients_.keep[k] = V(keep), coefficients_.add[k] = V(add);
    }
  }

  void start(const judge_of& until, const any_preconditioner<V>& m, view<V> x, view<V> r, view<V> p,
             index_t steps) override {
    const auto g = base::next_run(until.s, polynomial_in(m)->scale(), steps);
    base::launch(kernel_, polynomial::arguments<V>{g, x, r, p, coefficients_, base::words(0), base::rows()}, until);
  }
  double moved_by_step() const override { return base::bytes_of_step(coefficients_.terms, 3, coefficients_.terms); }

private:
  void (*kernel_)(polynomial::arguments<V>, judge_of);
  polynomial::coefficients<V> coefficients_;
};

template <class V> class rows_for_matrices final : public resident_rows<V> {
  using base = kept_system<V>;

public:
  /// `m`: by rows, and `c` the chip.
  rows_for_matrices(const row_view<V>& a, const row_view<V>& m, const chip& c)
      : rows_for_matrices(a, m, make_plan(a.row_ptr, a.col, sizeof(V), c, matrix_layout, {m.row_ptr, m.col}), c) {}

  double stored_bytes() const override {
    return base::stored_bytes() + double(row_ptr_.byte_count() + col_.byte_count() + val_.byte_count());
  }
  void start(const judge_of& until, const any_preconditioner<V>&, view<V> x, view<V> r, view<V> p,
             index_t steps) override {
    const arguments<V> g{base::next_run(until.s, {}, steps), x, r, p, base::words(0)};
    base::launch(kernel_, arguments_with_matrix<V>{g, row_ptr_.data(), col_.data(), val_.data()}, until);
  }
  double moved_by_step() const override {
    const bool inside = base::where().inside;
    return base::bytes_of_step(1, 3, 1) + (inside ? 0 : double(val_.byte_count() + col_.byte_count()));
  }

private:
  rows_for_matrices(const row_view<V>& a, const row_view<V>& m, plan p, const chip& c)
      : resident_rows<V>(a, p, c, cg_names, sum_words::count, 1),
        kernel_(base::running(steps_kernel<shared_share<V, matrix_on_chip<V>>, judge_of>, c)),
        row_ptr_(sent(m.row_ptr)), col_(sent(p.col_of_m)), val_(sent(m.val)) {}

  void (*kernel_)(arguments_with_matrix<V>, judge_of);
  gpu_array<index_t> row_ptr_; ///< of M
  gpu_array<std::uint16_t> col_;
  gpu_array<V> val_;
};

/// By rows, whatever the order of its format is, and without the zeros of one that pads, which would join blocks.
template <class V> coo<V> entries_by_rows(coo<V> m) {
  index_t kept = 0;
  for (index_t k = 0; k < m.nnz(); ++k)
    if (m.val[k] != V(0)) m.row[kept] = m.row[k], m.col[kept] = m.col[k], m.val[kept++] = m.val[k];
  return assemble(m.shape, cview<int>{m.row.data(), kept}, cview<int>{m.col.data(), kept},
                  cview<V>{m.val.data(), kept});
}

/// In place of the loop that a space makes.
template <class V> struct resident_loop {
  resident_rows<V>& rows;
  judge_of until;
  const any_preconditioner<V>& m;
  view<V> x, r, p;

  void start(index_t steps) { rows.start(until, m, x, r, p, steps); }
};

template <class V> class resident_conjugate_gradients : public conjugate_gradients<gpu::space<V>> {
  using base = conjugate_gradients<gpu::space<V>>;

public:
  resident_conjugate_gradients(gpu::space<V>& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options), rows_(static_cast<resident_rows<V>&>(*system.kept)) {}

  solve_report run() { return base::run_as(*this); }
  resident_loop<V> loop(const judge_of& until) {
    return {rows_, until, base::m_, base::x_, base::it_.r(), as_view(base::p_)};
  }
  index_t first_chunk() const { return 256; }
  /// A p, which would tell an indefinite matrix from a singular one, stays on the chip.
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return cg_messages::explain(verdict, slots, patient);
  }
  double bytes_per_iteration() const { return rows_.moved_by_step(); }

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

template <class V>
std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>& a, const any_preconditioner<V>& m, device where) {
  const rows_of_triplets<V> rows(a);
  if (const auto* const p = polynomial_in(m))
    return std::make_unique<rows_for_polynomials<V>>(rows.view(), *p, chip_of(where));
  if (const auto* const known = matrix_in(m)) {
    const coo<V> entries = entries_by_rows(known->entries());
    return std::make_unique<rows_for_matrices<V>>(rows.view(), rows_of_triplets<V>(entries).view(), chip_of(where));
  }
  return std::make_unique<rows_for_diagonals<V>>(rows.view(), chip_of(where));
}
template <class V> solve_report run(const linear_system<V>& system, const solve_options& options) {
  gpu::space<V> space;
  return resident_conjugate_gradients<V>(space, system, options).run();
}

template std::unique_ptr<solver_keeps> keep_on_chip(const coo<double>&, const any_preconditioner<double>&, device);
template std::unique_ptr<solver_keeps> keep_on_chip(const coo<float>&, const any_preconditioner<float>&, device);
template solve_report run(const linear_system<double>&, const solve_options&);
template solve_report run(const linear_system<float>&, const solve_options&);

} // namespace furrow::resident
