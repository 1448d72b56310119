// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "factors.hpp"

#include <utility>

namespace furrow::lu {

/// By those of A'.
class factors_by_rows final : public factors {
public:
  explicit factors_by_rows(std::unique_ptr<factors> of_transpose) : f_(std::move(of_transpose)) {
    dissected = f_->dissected, error = f_->error, raised = f_->raised, blocks = f_->blocks, largest = f_->largest;
    remark = "pivots from columns grow: these are from rows";
  }
  void solve(double* x, bool transposed) const override { f_->solve(x, !transposed); }
  void solve_two(double* x, double* y, bool transposed) const override { f_->solve_two(x, y, !transposed); }
  double bytes() const override { return f_->bytes(); }
  factor_size size() const override { return f_->size(); }
  std::string_view kind() const override { return f_->kind(); }

private:
  std::unique_ptr<factors> f_;
};

/// Those of A for R A C, the scales and those that the factors have within them taken together: powers of two, beside
/// which nothing is rounded.
class factors_in_units final : public factors {
public:
  factors_in_units(const factors& f, host_array<double> row, host_array<double> col)
      : f_(f), row_(std::move(row)), col_(std::move(col)) {}
  void solve(double* x, bool transposed) const override {
    const auto by = [x](const host_array<double>& scale) {
      for (index_t i = 0; i < scale.size(); ++i) x[i] *= scale[i];
    };
    by(transposed ? col_ : row_), f_.solve(x, transposed), by(transposed ? row_ : col_);
  }
  double bytes() const override { return f_.bytes(); }
  factor_size size() const override { return f_.size(); }
  std::string_view kind() const override { return f_.kind(); }

private:
  const factors& f_;
  host_array<double> row_, col_;
};

} // namespace furrow::lu
