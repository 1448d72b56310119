// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "features.hpp"

#include "preconditioners/stop.hpp"

#include <furrow/solve.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The ladder of `solver = "auto"`: what is tried for which matrix, in which order, and how long. Nothing here knows
/// values or devices; every number is counted in rows and iterations, so that the same matrix is always treated alike.
namespace furrow {

/// A complete factorisation of so few rows takes less time than a few hundred iterations, 62 ms at most on the 78 of
/// 122 real systems that are as small: it comes early where iterations are slow, and looks at doubtful answers.
inline constexpr index_t few_rows = 3000;

/// Whether diagonal blocks may put complete factors first: those of few rows are tried early anyway, and a diagonal
/// that says something before all else.
inline bool may_fall_apart(const features& f) {
  return f.square() && !f.symmetric && f.rows > few_rows && f.wants_matching();
}

/// A solver and a preconditioner to try.
struct rung_plan {
  std::string solver, precond;
  std::string reason;
  index_t outlook = 0;          ///< left where the rate promises more iterations; 0: kept to its own limit
  index_t most = 0;             ///< iterations; 0: the method's own limit
  most_operations operations{}; ///< that complete factors may take
  bool is_bounded() const { return operations.most < most_operations::any; }
  bool on_trial = false;  ///< an answer that may be off by more than 1 % is left to the next one
  bool augmented = false; ///< complete factors are those of an `augmented_system`
};

/// Which entries this build has.
struct inventory {
  bool (*has_solver)(std::string_view name);
  bool (*has_preconditioner)(std::string_view name);
  /// Whether the solve runs on a GPU, and which preconditioners run there too.
  bool on_gpu = false;
  std::function<bool(std::string_view name)> runs_on_gpu = [](std::string_view) { return true; };
  /// Whether a GPU is hardly faster by it than the host.
  bool (*by_levels)(std::string_view name) = [](std::string_view) { return false; };
  /// Whether a preconditioner is another one in each step, which few methods allow for.
  bool (*varies)(std::string_view name) = [](std::string_view) { return false; };
  /// Whether a method may have that preconditioner, which it may want symmetric and definite.
  bool (*suits)(std::string_view precond, std::string_view solver) = [](std::string_view, std::string_view) {
    return true;
  };
  /// Whether the system may fit on the chip of that GPU, where steps of cg with a diagonal take less time, and of
  /// bicgstab, which keeps more vectors there.
  bool cg_fits_on_chip = false, bicgstab_fits_on_chip = false;
  /// Whether ranks climb together, who have no complete factors.
  bool on_ranks = false;
};

/// The rungs for a matrix, the first one first. Never empty.
std::vector<rung_plan> rungs_for(const features& f, const inventory& there);

/// The same where a solve has shown that a symmetric matrix is not positive definite.
std::vector<rung_plan> rungs_for_indefinite(const features& f, const inventory& there);

/// The same where a solve has shown that a matrix is singular to working precision, and b not in its range.
/// `indefinite`: another one that it is symmetric and not positive definite.
std::vector<rung_plan> rungs_for_singular(const features& f, const inventory& there, bool indefinite = false);

/// The methods to try with a preconditioner that was asked for.
std::vector<rung_plan> rungs_with(std::string_view precond, const features& f, const inventory& there);

} // namespace furrow
