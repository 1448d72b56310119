// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "setup_clock.hpp"

#include "matrix/source.hpp"
#include "preconditioners/scaled.hpp"
#include "solvers/entry.hpp"

#include <furrow/solver.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// A x = b set up for a method that was named: A, M, A' where the method needs it, and what the method keeps beside
/// them; or why no solve can start.
template <class V> class prepared_system {
public:
  const solver_entry* method = nullptr;
  std::optional<refusal> refused; ///< why no solve can start
  coo<V> triplets;                ///< of a refused one: its residual is still known

  /// The method; the system keeps views of its name. Throws where it does not run, or not in this precision.
  void use(std::string_view solver, device where);
  /// Makes all of it from A, and M with scales around it, null: ones. In `o` the preconditioner gets its name, and
  /// scaling and moving are struck out as done. `known`: A as it was looked at and stored before. Throws as a solver.
  void set_up(matrix_source<V> a, std::shared_ptr<const diagonal_scales<V>> around_m, solve_options& o,
              setup_clock& clock, const matrix<V>* known);
  /// From operators of the caller, which outlive it.
  void set_up(const any_operator<V>& a, const any_preconditioner<V>* m, const operator_facts& facts,
              const any_operator<V>* transposed, const solve_options& o);
  /// Whether it is from operators of the caller.
  bool is_given() const { return format_ == "own"; }
  /// Takes M of a system of other values over, which cannot be solved from then on.
  void succeed(prepared_system& before, std::string why);

  solve_report run(cview<V> b, view<V> x, const solve_options& o) const;
  /// Right-hand sides one behind the other: those that the method takes at once go there.
  std::vector<solve_report> run(cview<V> b, view<V> x, index_t columns, solve_options o) const;
  /// In the memory of the GPU; empty for vectors that the host has to look at.
  std::optional<solve_report> run_on_gpu(cview<V> b, view<V> x, const solve_options& o) const;
  /// Several at once there; empty where the method takes one after the other, or the host has to look at one of them.
  std::vector<solve_report> run_on_gpu(cview<V> b, view<V> x, index_t columns, const solve_options& o) const;
  /// Says what was chosen, and what the method says of itself.
  void describe_choice(solve_report& report) const;

private:
  bool renew_preconditioner(const matrix_source<V>& a, const solver_needs& needs);
  void set_up_preconditioner(const matrix_source<V>& a, const stats& s, bool symmetric, const solve_options& o);
  linear_system<V> system(cview<V> b, view<V> x) const {
    return {*a_, *m_, b, x, norm_inf_, norm_2_, longest_row_, parameters_, transposed_, kept_.get()};
  }
  solve_report described(solve_report report) const;
  void run_together(const std::vector<index_t>& numbers, cview<V> b, view<V> x, const solve_options& o,
                    std::vector<solve_report>& reports) const;

  std::string_view parameters_; ///< of the method
  std::string format_, kernel_, reason_;
  std::shared_ptr<const any_operator<V>> own_a_;
  std::shared_ptr<const diagonal_scales<V>> around_m_;
  std::unique_ptr<any_preconditioner<V>> own_m_;
  std::unique_ptr<any_preconditioner<V>> before_; ///< M for other values of A, until this one's is made
  std::unique_ptr<solver_keeps> kept_;            ///< by the method's own set-up
  std::unique_ptr<any_operator<V>> own_transposed_;
  const any_operator<V>*a_ = nullptr, *transposed_ = nullptr; ///< A' where the method needs it
  const any_preconditioner<V>* m_ = nullptr;
  double norm_inf_ = 0, norm_2_ = 0;
  index_t longest_row_ = 0;
  bool opposite_ = false; ///< -A may be positive definite
};

} // namespace furrow
