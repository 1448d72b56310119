// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/entry.hpp"

#include <string>

namespace furrow {

/// What `refine` keeps of its set-up: A and M in single precision, and the method that solves with them.
class inner_system final : public solver_keeps {
public:
  /// `parameters`: the inner method, "gmres:50" of `refine:gmres:50`; empty: cg for a symmetric A whose diagonal is
  /// positive, minres for another symmetric one, else bicgstab. Its M is `options.precond`, made from the rounded
  /// triplets; A is in the format that `choose` takes for it. Throws `fault::usage` for a method that cannot serve,
  /// `fault::input` for a matrix that is not what the method needs or leaves the range of single precision.
  inner_system(const coo<double>& a, std::string_view parameters, const solve_options& options);

  /// |r - S d| <= rtol |r| by the recurrence of the method, for S = 2^`exponent` A. d begins and ends as in `solve`.
  /// Both lie on the device of the options.
  solve_report solve(cview<float> r, view<float> d, const solve_options& options) const;

  int exponent() const { return exponent_; }
  /// With its parameters.
  std::string_view method() const { return name_; }

  double stored_bytes() const override;
  void describe(solve_report& report) const override;

private:
  std::string name_, precond_;
  const solver_entry* method_ = nullptr;
  int exponent_ = 0;
  std::unique_ptr<any_operator<float>> a_;
  std::unique_ptr<any_preconditioner<float>> m_;
  double norm_inf_ = 0;
  index_t longest_row_ = 0;
};

/// Bytes that it takes, making included.
memory_estimate estimate_inner_system(const stats& s, std::string_view parameters, const solve_options& options);

} // namespace furrow
