// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "condition.hpp"
#include "factors.hpp"

#include "preconditioners/stop.hpp"

#include <furrow/operator.hpp>

#include <limits>
#include <string>

namespace furrow::lu {

/// M = A^-1 = C (R A C)^-1 R, in double also for a system of floats: refinement then reaches the last digit of an x
/// in float for condition numbers up to 1e16 instead of 1e7. `which`: "dense", "band", "cholesky", "supernodal",
/// "sparse", or empty for the cheapest: "cholesky" in place of "sparse" where the matrix is symmetric with a positive
/// diagonal and its pivots stay positive, "supernodal" where the pattern promises that it takes less time and pivots
/// from inside of supernodes are good enough. Where these were made larger the condition number is not estimated. Where
/// pivots from columns grow beyond rounding they are from rows.
/// Throws `refusal` with status::singular where a column has no pivot, and with status::max_iterations where the
/// factors would take more than `operations` of floating point, counted and not timed. `wish`: for the order of the
/// columns of "cholesky" and "sparse".
template <class V>
class inverse final : public any_preconditioner<V>, public tells_factor_size, public amplifies_errors {
public:
  inverse(const coo<V>& a, std::string_view which, const most_operations& operations = {},
          order_wish wish = order_wish::cheapest);

  void apply(cview<V> r, view<V> z) const override;
  double stored_bytes() const override;
  condition_numbers condition() const override { return condition_; }
  std::string describe() const override;
  factor_size size_of_factors() const override { return factors_ ? factors_->size() : factor_size{}; }
  double amplified(const host_array<double>& d, double size) const override;
  bool hides_condition() const override { return hides_condition_; }
  bool is_blurred() const override { return blurred_; }
  /// x <- A^-1 x, or A'^-1 x, and y likewise where there is one.
  void solve(double* x, double* y, bool transposed) const;

private:
  inverse() = default;
  void take_nearest(const coo<V>& a, std::string_view which, const most_operations& operations);
  bool factor_symmetric(const coo<V>& a, std::string_view which, double operations, column_order& order);
  double factor_any(const coo<V>& a, scaled_columns s, std::string_view which, const most_operations& operations,
                    column_order order);
  void estimate_condition(const coo<V>& a);
  double condition_as_scaled(const coo<V>& a) const;
  bool hides_inverse(const coo<V>& a, const most_operations& operations);
  double try_factors(const coo<V>& a, scaled_columns s, std::string_view which, const most_operations& operations);
  bool are_of_another_matrix(const coo<V>& a, double error) const;
  void factor_by_matching(const coo<V>& a, std::string_view which, const most_operations& operations, double& error);

  std::unique_ptr<factors> factors_;
  host_array<double> row_scale_, col_scale_;
  double given_bytes_ = 0; ///< of the triplets
  order_wish wish_ = order_wish::cheapest;
  condition_numbers condition_;
  bool hides_condition_ = false, blurred_ = false;
  std::unique_ptr<inverse> in_other_units_; ///< what tells of A^-1 where the factors hide it
};

} // namespace furrow::lu
