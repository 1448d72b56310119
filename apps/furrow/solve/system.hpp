// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix_input.hpp"
#include "solve_request.hpp"

namespace furrow::cli {

/// The matrix that is solved for, here or in parts on ranks, as the one sees it who writes and reports.
class system_to_solve {
public:
  virtual ~system_to_solve() = default;

  shape2 shape;
  index_t nnz = 0;
  std::string name, origin;

  /// b as asked for: the columns of `file`, where it is none what came with the matrix, A * ones, or where that is zero
  /// A times a random vector. Says in `rhs` which.
  virtual vector_columns right_hand_side(const std::string& file, std::string& rhs) = 0;
  virtual system_fingerprint print(cview<double> b) = 0;
  virtual matrix_sketch draw(const solve_options& options) = 0;
  /// Takes the matrix apart. Sets the columns of `o`, and what ranks have.
  virtual void solve(solve_request& q, const vector_columns& b, vector_columns& x, solve_outcome& o) = 0;
};

std::unique_ptr<system_to_solve> read_here(const matrix_input& input);
/// Each rank has its rows; the others follow the first one, which calls this.
std::unique_ptr<system_to_solve> read_on_ranks(const solve_request& q, const matrix_input& input);

/// What ranks other than the first do: what that one says, until it has solved or failed.
void follow_the_first(communicator& c);

/// Said where A * ones is zero.
inline constexpr const char* ones_in_null_space =
    "A * ones is zero, so ones are in the null space of A: b is A times a random vector instead";
/// Whether b is zero up to the rounding of A * ones, where `largest` is the largest |A[i,j]|: then ones are in the null
/// space, as for a graph Laplacian.
bool vanishes(const host_array<double>& b, double largest);
double largest_entry(const coo<double>& a);
/// b that is named or came with the matrix; nothing where there is none.
std::optional<vector_columns> given_right_hand_side(const std::string& file, std::optional<host_array<double>>& came,
                                                    index_t rows, const std::string& name, std::string& rhs);

} // namespace furrow::cli
