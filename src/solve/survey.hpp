// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "setup_clock.hpp"

#include "matrix/source.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/matrix.hpp>

#include <functional>
#include <optional>

namespace furrow {

/// Somebody's word to end a set-up; and with a deadline, by `now()`, that M was not set up until then.
std::optional<refusal> interruption(const solve_options& o);
std::optional<refusal> interruption(const solve_options& o, double deadline, std::string_view precond);

/// An entry of a matrix that is not finite, by its place from 0 on; no row where the entries are not at hand.
struct odd_entry {
  index_t row = -1, col = -1;
  double value = 0;
};
refusal refusal_of(const odd_entry& e);

/// What the set-up of every solve begins with.
struct survey {
  stats facts;
  choice chosen; ///< no format where it was interrupted before
  memory_estimate needed;
  std::optional<refusal> refused; ///< an interruption, or a matrix that is not finite
};

/// Looks at A, chooses its format, by measurements with `tune`, and announces the memory that the solve needs. Throws
/// as `choose`, and `fault::memory` where there is less. `known`: A as it was looked at and stored before. On the CPU a
/// matrix of few entries stays as it is, and one by which little will be multiplied, which `few_products` says from
/// what `measure_sums` finds of a matrix that is finite.
template <class V>
survey survey_of(const matrix_source<V>& a, const solve_options& o, setup_clock& clock, const matrix<V>* known,
                 const std::function<bool(const stats&)>& few_products);

} // namespace furrow
