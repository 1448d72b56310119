// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "features.hpp"

#include <furrow/solve.hpp>

#include <furrow/coo.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

/// What `auto` does about an answer whose error neither its method nor a second start (second_start.hpp) can tell:
/// complete factors of the matrix, where they take little beside what the answer took.
namespace furrow {
namespace lu {
template <class V> class inverse;
}

/// What an answer took, by bytes and not by the clock: the same matrix is looked at, or not, on every machine.
struct work_done {
  double bytes = 0; ///< that iterations moved, and as many as in the time of set-ups
  bool on_gpu = false;
  index_t stored = 0;   ///< rungs whose preconditioner was more than a diagonal
  bool in_vain = false; ///< another start of the method was among it, and told nothing

  /// Of a rung that ran.
  void add(const solve_report& r, const features& f);
  /// Of another start of the method, whose preconditioner stands.
  void add_start(const solve_report& r) { bytes += r.bytes_per_iteration * double(r.iterations); }
};

/// Whether the error of x has no estimate worth the name: none by a condition number, one in a norm in which rows of
/// very different sizes may hide errors of 1 %, or one of which a warning speaks, or of few rows more
/// than 1e-4, which may be false by a factor of a thousand either way; of so few that factors are had at once, any.
/// Not of fewer rows than columns, whose answers are many.
bool in_doubt(const solve_report& r, const features& f);

/// Whether another start of the method is to tell the error: it has neither an estimate by a condition number nor a
/// warning, or one by Ritz values to which b may not have shown the smallest eigenvalues. Not of so few rows that
/// factors tell more in no time, and not where a first guess was the answer: the method would have to solve for the
/// first time.
bool wants_second_start(const solve_report& r, const features& f);

/// Whether cg may have met none of the smallest eigenvalues: it saw a condition number below 1e5, so that another look
/// takes little. Of a curl-curl with a mass of 1e-6, whose gradients b does not hold, it saw 300 for 5e10, and an error
/// of 1e-6 for one of 58 %; with multigrid, of a Laplacian shifted to 1e-8 of its smallest eigenvalue, 1.2, and 1e-8
/// for 160 %.
bool may_see_little(const solve_report& r, const features& f);

/// Whether a right-hand side at random is to tell of that. Not with another M than a diagonal where sizes of rows
/// differ by 1e4: M A may be near the identity there, and the norm of the estimate, about that of A, lets x be anything
/// in cells of 1e-8 among ones.
bool shows_at_random(const solve_report& r, const features& f);

/// Whether rows of very different sizes may hide errors of 1 % from the method's own estimate.
bool hides_errors(const solve_report& r, const features& f);
bool hides_errors(double error_estimate, const features& f);
/// Puts the warning of that into a `converged` report, in place of the estimate, where nobody could tell.
void warn_of_hidden_errors(solve_report& report, const features& f);

/// Operations of floating point that factors may take, so that they take about as long as the answer did, or some 50 ms
/// where there are few rows, where a first guess was the answer, and where another start told nothing; 0: none.
double operations_worth(const solve_report& r, const features& f, const work_done& w);

/// Whether factors are to tell of an error that another start has told: one that is warned of, of so few rows that they
/// are had at once. Of 36 curl-curl systems whose x was right to 1e-15 another start warned of 25.
bool is_made_sure_of(double apart, const features& f);

/// What complete factors say of A, and of one answer.
struct factor_facts {
  bool singular = false;    ///< a column has no pivot; nothing else is known then
  double condition = 0;     ///< |A|_1 |A^-1|_1, by `lu::norm_1_estimate`
  double by_rounding = 0;   ///< what rounding of A and of b does to x: u cond(A), or less, of this x
  double amplification = 0; ///< |A^-1 r| / |x| in largest elements, beside the relative residual; r = b - A x in double
};

/// Complete factors of A in double, kept with its triplets, so that each answer is held against its own b: what a
/// residual is worth differs by up to the condition number from one right-hand side to another.
template <class V> class factor_look {
public:
  /// By at most that many operations. Empty where factors cannot be had, or are those of another matrix. `most_kept`:
  /// bytes; larger ones are let go after the first answer, whose gain is then that of the others. A factorisation, and
  /// some 12 solves in six passes over the factors; serial.
  static std::optional<factor_look> at(coo<V> a, double operations, double most_kept = 64e6);

  bool singular() const { return facts_.singular; }
  /// What they say of x, that of a `converged` report, in host memory like b. A solve and a pass over the entries;
  /// where u cond(A) = u | |A^-1| |A| |_inf is more than half a percent, six solves more for
  /// u | |A^-1| (|A| |x| + |b|) |_inf / |x|_inf, which units of unknowns do not make large.
  factor_facts of(cview<V> b, cview<V> x, double relative_residual);

private:
  coo<V> a_;
  std::shared_ptr<const lu::inverse<V>> inverse_; ///< null: singular, or let go
  factor_facts facts_;
  double most_kept_ = 0;
  double gain_ = 0; ///< of factors that were let go: |A^-1 r| in the largest element beside |r| in the 2-norm
};

/// The same for a single answer.
template <class V>
std::optional<factor_facts> look_by_factors(const coo<V>& a, cview<V> b, cview<V> x, double operations,
                                            double relative_residual);

/// What has been looked at: once for an answer that nothing was done for, with little at stake, once for one that took
/// iterations, and once for one of which a right-hand side at random left nothing clear.
struct looks_taken {
  bool of_guess = false, of_answer = false, of_unclear = false;
  bool in_vain = false; ///< another start told nothing
  double strays = 0;    ///< but this, as in second_start.hpp
  /// Whether it is time to look.
  bool take(const solve_report& r, bool unclear = false);
};

/// Puts into a `converged` report the condition number, error_estimate = amplification * residual + by_rounding, and a
/// warning where that is more than 1 %.
void put_into(solve_report& report, const factor_facts& facts);

/// The same where complete factors tell the error itself, as of a matrix with more rows than columns.
void put_nearest(solve_report& report, double error);

/// The largest sum of a row's entries, of a rank that of its own rows. A product, two vectors, a wait.
template <class V> double largest_row_sum(const any_operator<V>& a);
/// Whether every row of A adds up to zero, up to rounding, as those of a Laplacian without a boundary value do: x plus
/// any constant fits b as well, which no iteration shows where b is in the range. The largest sum of all rows tells,
/// held against the largest row, norm_inf; where it is no rounding of the smallest one, for which the largest one over
/// the spread of their sizes stands, each row is held against its own size: `each_row()` says so.
template <class V>
bool adds_up_to_zero(double largest_sum, double norm_inf, const features& f, const std::function<bool()>& each_row);
/// Whether each row of these adds up to zero, up to rounding of its own entries.
template <class V> bool each_row_adds_up_to_zero(const coo<V>& a);
/// Whether a connected part of a symmetric A may map ones to zero, as two rows of 1,000 do, which cg never meets, and A
/// is small enough to look for it by `balanced_rows_of`: rows are joined one by one, in some 1 ms.
bool may_have_singular_part(const features& f);
/// Who found that.
inline constexpr const char* of_row_sums = "a look at its rows, each of which adds up to zero,";
inline constexpr const char* of_column_sums = "a look at its columns, each of which adds up to zero over some rows,";

/// "the matrix is singular ...", before what the report warns of already, and no estimate of the error of x. `by`: who
/// found it, "direct with lu".
void warn_of_many_answers(solve_report& report, const std::string& by);

} // namespace furrow
