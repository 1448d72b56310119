// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

namespace furrow {

/// A slot, as a pass uses it.
class scalar {
public:
  scalar(slot at) : at_(at.at) {}
  FURROW_HD void load() { value_ = *at_; }
  FURROW_HD operator double() const { return value_; }

private:
  const double* at_;
  double value_ = 0;
};

/// A number that the host gives to a pass: what it was worked out from has come home.
class number {
public:
  explicit number(double value) : value_(value) {}
  FURROW_HD void load() {}
  FURROW_HD operator double() const { return value_; }

private:
  double value_;
};

/// num / den, two slots. Worked out by the pass that uses it, so that scalar algebra costs neither a launch nor a wait.
/// 0 where den is 0: the step is then no step, and the solver's judge says why.
class quotient {
public:
  quotient(slot num, slot den) : num_(num.at), den_(den.at) {}
  /// Called once before the first use.
  FURROW_HD void load() { value_ = *den_ != 0 ? *num_ / *den_ : 0; }
  FURROW_HD operator double() const { return value_; }

private:
  const double *num_, *den_;
  double value_ = 0;
};
inline quotient operator/(slot num, slot den) { return {num, den}; }

/// num / den where den must be positive, as p'Ap of a positive definite matrix is; 0 where it is not.
class guarded_quotient {
public:
  guarded_quotient(slot num, slot den) : num_(num.at), den_(den.at) {}
  FURROW_HD void load() { value_ = *den_ > 0 ? *num_ / *den_ : 0; }
  FURROW_HD operator double() const { return value_; }

private:
  const double *num_, *den_;
  double value_ = 0;
};

} // namespace furrow
