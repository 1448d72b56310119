// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rungs.hpp"

#include <furrow/solver.hpp>

#include <memory>
#include <optional>

namespace furrow {

/// `solver = "auto"`: looks at the matrix, and climbs the rungs until one of them converges. x, the best so far, goes
/// along. What a rung needs is made when its turn comes; the one that gave an answer is kept, and the next right-hand
/// side begins there.
template <class V> class ladder {
public:
  /// A matrix whose triplets were checked. Throws as `furrow::solve`; what a rung cannot take is no error, the
  /// next one is tried then.
  ladder(coo<V> a, const solve_options& o);
  ~ladder();
  solve_report solve(cview<V> b, view<V> x);

private:
  struct place;     ///< the matrix on a device
  struct candidate; ///< an x that was set aside
  struct part;      ///< a preconditioner, or why there is none
  struct attempt;   ///< a rung that is set up

  void prepare(coo<V> a);
  place& on(device where);
  part precondition(const rung_plan& plan, const coo<V>& a) const;
  std::unique_ptr<attempt> set_up(const rung_plan& plan, solve_rung& tried);
  solve_report climb(cview<V> b, view<V> x);
  void turn(status why, const std::string& solver);
  bool hides_its_residual(cview<V> b, cview<V> x, double relative) const;
  solve_report ended(status why, std::string message) const;

  solve_options options_;
  stats stats_;
  features features_;
  double norm_2_ = 0;
  choice chosen_;
  bool negated_ = false;                       ///< -A x = -b is solved
  bool indefinite_ = false, singular_ = false; ///< shown by a solve
  std::optional<solve_report> ended_;          ///< why no solve can start
  std::vector<rung_plan> plans_;
  std::size_t at_ = 0;
  std::vector<std::unique_ptr<place>> places_;
  std::unique_ptr<part> first_; ///< of the first rung, from triplets that are gone since
  std::unique_ptr<attempt> kept_;
};

} // namespace furrow
