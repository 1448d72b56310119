// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"
#include "factor_size.hpp"

#include "core/host_room.hpp"

#include <limits>
#include <memory>
#include <string_view>

namespace furrow::lu {

/// P A Q = L U of a matrix of doubles, complete.
struct factors {
  virtual ~factors() = default;
  /// x <- A^-1 x, or A'^-1 x. Serial: the same bits on every run.
  virtual void solve(double* x, bool transposed) const = 0;
  /// The same of two vectors, for less than twice the price where the factors are read once.
  virtual void solve_two(double* x, double* y, bool transposed) const { solve(x, transposed), solve(y, transposed); }
  virtual double bytes() const = 0; ///< that a solve reads
  virtual factor_size size() const = 0;
  virtual std::string_view kind() const = 0; ///< "sparse", as people read it
};

/// With LAPACK (dgetrf): 8 n^2 bytes, 2/3 n^3 operations.
std::unique_ptr<factors> factor_dense(const columns& a);
/// With LAPACK (dgbtrf), for entries within `below` diagonals under and `above` over the main one:
/// 8 n (2 below + above + 1) bytes, 2 n below (below + above) operations.
std::unique_ptr<factors> factor_band(const columns& a, bandwidth w);
/// With SuperLU: left-looking by supernodes, columns ordered to keep the factors sparse (J. W. Demmel, S. C. Eisenstat,
/// J. R. Gilbert, X. S. Li, J. W. H. Liu, A supernodal approach to sparse partial pivoting, 1999). A symmetric pattern
/// is ordered by minimum degree on A + A' and keeps to pivots on the diagonal that are not much smaller than others of
/// their column; other ones by COLAMD, with partial pivoting. Takes at most `budget` bytes, and at
/// most so many operations of floating point. What is known to be more from the pattern (`expected_fill`) is refused
/// before it is taken.
std::unique_ptr<factors> factor_sparse(const columns& a, host_room budget,
                                       double operations = std::numeric_limits<double>::infinity(),
                                       const host_array<std::int32_t>* by_minimum_degree = nullptr);

/// All three throw `refusal` with status::singular where a column has no pivot, and `fault::memory` before they take
/// memory that is not there.
[[noreturn]] void refuse_singular(index_t column);
/// Throws `refusal` with status::max_iterations.
[[noreturn]] void refuse_operations(double most);

} // namespace furrow::lu
