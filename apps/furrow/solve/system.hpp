// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix_input.hpp"
#include "solve_request.hpp"

namespace furrow::cli {

/// The system that is solved, here or in parts on ranks, as the one sees it who writes and reports.
class system_to_solve {
public:
  virtual ~system_to_solve() = default;

  shape2 shape;
  index_t nnz = 0;
  index_t count = 1; ///< right-hand sides, once they are taken
  std::string name, origin;

  /// b as asked for: the columns of `file`, where it is none what came with the matrix, A * ones, or where that is zero
  /// A times a random vector. Says in `rhs` which.
  virtual void take_right_hand_side(const std::string& file, std::string& rhs) = 0;
  /// What x begins with: as many columns as b has, or where there is no file 0.
  virtual void begin_with(const std::string& file) = 0;
  /// The x of a checkpoint of this system; the rest is returned.
  virtual checkpoint resume(const std::string& file, const system_fingerprint& print) = 0;
  virtual double norm_of_right_hand_side(index_t column) = 0;
  virtual system_fingerprint print() = 0;
  virtual matrix_sketch draw(const solve_options& options) = 0;
  /// Takes the matrix apart. Sets the columns of `o`, and what ranks have.
  virtual void solve(solve_request& q, solve_outcome& o) = 0;
  /// Of x.
  virtual double distance_from_ones() = 0;
  /// The last checkpoint; where another rank's part of it went over the first one, the sentence about that.
  virtual std::string keep_last(checkpoint_keeper& keeper, const solve_report& report) = 0;
  virtual void write_x(const std::string& file) = 0;
  /// Nothing else is called behind it.
  virtual void end(solve_request&) {}
};

std::unique_ptr<system_to_solve> read_here(const matrix_input& input);
/// Each rank has its rows; the others follow the first one, which calls this.
std::unique_ptr<system_to_solve> read_on_ranks(const solve_request& q, const matrix_input& input);

/// What ranks other than the first do: what that one says, until it has solved or failed.
void follow_the_first(communicator& c);

/// Said behind the name of an A where A * ones is zero.
inline constexpr const char* ones_in_null_space =
    ": A * ones is zero, so ones are in the null space of A: b is A times a random vector instead";
/// b = A * ones. Throws `fault::input` where it leaves the range of f64 though A does not.
host_array<double> product_with_ones(const problem& p);
/// Whether b = A * ones is zero up to rounding, which each row has of its own: then ones are in the null space, as for
/// a graph Laplacian.
bool vanishes(const host_array<double>& b, const coo<double>& a);
double norm_of(cview<double> b);
/// The largest |x[i] - 1|.
double distance_from_ones(cview<double> x);
/// What x begins with that is named.
vector_columns first_guess(const std::string& file, index_t size, index_t count);
/// b that is named or came with the matrix; nothing where there is none.
std::optional<vector_columns> given_right_hand_side(const std::string& file, std::optional<host_array<double>>& came,
                                                    index_t rows, const std::string& name, std::string& rhs);

} // namespace furrow::cli
