// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "features.hpp"
#include "rungs.hpp"
#include "survey.hpp"

#include "preconditioners/scaled.hpp"

#include <furrow/solver.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace furrow {

/// A as the rungs of a ladder meet it: what is known of it, A itself on the devices that they run on, and what a rung
/// needs beside it, made when its turn comes. What a rung cannot take is no error, it says why it is left.
template <class V> class ladder_system {
public:
  /// A rung that is set up.
  struct attempt {
    rung_plan plan;
    solve_options options;
    const any_operator<V>& a;
    std::unique_ptr<any_preconditioner<V>> m;
    solver<V> method;
    std::shared_ptr<bool> unseen; ///< nobody is told of iterations while this is so

    bool is_of(const rung_plan& other) const { return plan.solver == other.solver && plan.precond == other.precond; }
  };

  solve_options options;
  stats facts;
  features known; ///< of -A where that is solved
  choice chosen;
  double norm_2 = 0;
  bool negated = false; ///< -A x = -b is solved
  double deadline = 0;  ///< by `now()`: of the set-up, and then of the solve under way

  ladder_system(const solve_options& o, std::shared_ptr<const diagonal_scales<V>> around_m);
  ~ladder_system();
  /// Finds out what is known, and negates A where the diagonal says so. Returns why no solve can start. `few_products`:
  /// whether the first rung multiplies by A a few times alone.
  std::optional<refusal> look(matrix_source<V>& a, setup_clock& clock,
                              const std::function<bool(const features&)>& few_products);
  /// Makes M of the first rung while the triplets are there, and stores A.
  void store(matrix_source<V> a, const rung_plan& first, setup_clock& clock);

  const any_operator<V>& a() const; ///< as it is stored
  bool is_stored() const { return !places_.empty(); }
  /// Whether that preconditioner has a part for the GPU of the solve, and room there beside A, which may not be stored
  /// yet. One whose room is gone when its turn comes is made on the host as well. `free`: bytes, asked for once, and
  /// only of who wants more than a little.
  bool has_room_on_gpu(std::string_view precond, std::optional<double>& free) const;
  /// Whether the next `set_up` has M already, whose seconds belong to the set-up of the whole.
  bool has_first() const { return first_ != nullptr; }
  /// A plan that cannot be had as it stands becomes another one. Null: it cannot be had, and `tried` says why.
  std::unique_ptr<attempt> set_up(rung_plan& plan, solve_rung& tried);
  /// A rung that takes more than what was told: tells of it before the memory is taken.
  void announce_more(const rung_plan& plan, const preconditioner_layout& m, bool on_gpu);
  void drop_rows() { rows_.reset(); } ///< a rung has answered

private:
  void get_to_know(const matrix_source<V>& a, const stats& sums);

  struct place; ///< the matrix on a device
  struct part;  ///< a preconditioner, or why there is none

  place& on(device where);
  device place_of_m(std::string_view precond, bool first, std::string& reason) const;
  part precondition(const rung_plan& plan, const matrix_source<V>* a); ///< null: from the triplets of what is stored
  /// M of that name, scaled where it may be; null: from the triplets of what is stored.
  std::unique_ptr<any_preconditioner<V>> make_m(const std::string& precond, const matrix_source<V>* a, device where,
                                                const solver_needs& needed) const;

  std::shared_ptr<const diagonal_scales<V>> around_m_;
  memory_estimate announced_;
  std::vector<std::unique_ptr<place>> places_;
  /// Rows on the GPU, where they have room beside what is stored, until a rung has answered: the next one's
  /// preconditioner is made from them.
  std::optional<matrix_source<V>> rows_;
  std::unique_ptr<part> first_; ///< of the first rung, from triplets that are gone since
};

} // namespace furrow
