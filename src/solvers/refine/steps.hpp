// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"

namespace furrow::refine_steps {

/// r in single precision, times a power of two, and d = 0.
struct narrow {
  double scale;
  FURROW_HD void load() {}
  FURROW_HD void operator()(double r, float& single, float& d, sums<0>) const {
    single = static_cast<float>(r * scale);
    d = 0;
  }
};

/// x += scale d; |d|^2.
struct correct {
  double scale;
  FURROW_HD void load() {}
  FURROW_HD void operator()(double& x, float d, sums<1> sum) const {
    x = x + double(d) * scale;
    sum[0] += double(d) * double(d);
  }
};

/// Slots beside those of `control`.
enum slot_name : int { length = control::own_slot, mark, idle, stuck };
inline constexpr int slot_count = 4;

enum verdict : int { no_gain = control::own_verdict, no_step };

/// Corrections in a row that must halve the residual. Each costs a solve, and where single precision serves at all it
/// gains a digit or more.
inline constexpr double patience = 3;

/// Ends the loop after `patience` corrections that did not halve the residual, or one without an inner answer.
struct judge {
  double* s;
  FURROW_HD int before() const { return control::running; }
  FURROW_HD int after() const {
    if (s[stuck] > 0) return no_step;
    const bool gained = s[control::rr] <= 0.25 * s[mark];
    if (gained) s[mark] = s[control::rr];
    s[idle] = gained ? 0 : s[idle] + 1;
    return s[idle] >= patience ? int(no_gain) : int(control::running);
  }
};

} // namespace furrow::refine_steps
