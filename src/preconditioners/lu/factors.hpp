// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"
#include "factor_size.hpp"
#include "ordering.hpp"

#include "core/host_room.hpp"
#include "preconditioners/stop.hpp"

#include <limits>
#include <memory>
#include <string>
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
  bool dissected = false;                    ///< whether the columns stand in an order by nested dissection
  /// How far from A the matrix is that they solve with (`backward_error`), where that is known to be more than
  /// rounding; 0: not known, for pivots were as large as they could be.
  double error = 0;
  index_t raised = 0;              ///< pivots that were made larger
  double work = 0;                 ///< operations that they took, about; those of panels of supernodes count a fifth
  index_t blocks = 1, largest = 0; ///< diagonal blocks (`block_form`), and the rows of the largest where there are more
  std::string remark{};            ///< why they are of this kind, for people
};

/// Which sparse factors: those by supernodes, with pivots from inside them, where they pay and are good; others alone;
/// or these alone.
enum class supernodes { where_they_pay, none, only };

/// Of so many rows pivots and places are counted in 32 bits.
inline constexpr index_t most_dense_rows = 46340;

/// By plain loops (`plain_lu`) up to 256 rows, by `factor_dense_panel` beyond: 8 n^2 bytes, 2/3 n^3 operations.
std::unique_ptr<factors> factor_dense(const columns& a);
/// For entries within `below` diagonals under and `above` over the main one, by plain loops up to 64 diagonals below
/// and by `factor_band_by_blocks` beyond: 8 n (2 below + above + 1) bytes, 2 n below (below + above) operations.
std::unique_ptr<factors> factor_band(const columns& a, bandwidth w);
/// By SuperLU, of up to 5,000 columns by `column_lu`: minimum degree on A + A' or nested dissection
/// (`count_best_order`) for a symmetric or nearly symmetric pattern, whose pivots keep to the diagonal where they are
/// not much smaller than others of their column; COLAMD for other ones, whatever the wish, with partial pivoting. Takes
/// at most `budget` bytes, and at most so many operations of floating point. What is known to be more from the pattern
/// (`forecast_fill`) is refused before it is taken. `order`: of A + A', where one is known. `by`: whether a symmetric
/// or nearly symmetric pattern is to be factored by `factor_supernodal`, where its operations promise that this takes
/// less time and its pivots are good enough.
std::unique_ptr<factors> factor_sparse(const columns& a, host_room budget, const most_operations& operations = {},
                                       column_order order = {}, order_wish wish = order_wish::cheapest,
                                       supernodes by = supernodes::none);

/// A column without a pivot: status::singular.
struct no_pivot : refusal {
  index_t column;
};
/// All three throw `no_pivot` where there is one, and `fault::memory` before they take memory that is not there.
[[noreturn]] void refuse_singular(index_t column);
/// Throws `refusal` with status::max_iterations.
[[noreturn]] void refuse_operations(double most);

} // namespace furrow::lu
