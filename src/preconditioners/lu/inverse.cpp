// SPDX-License-Identifier: BSD-3-Clause
#include "inverse.hpp"

#include "backward_error.hpp"
#include "block_lu.hpp"
#include "cholesky.hpp"
#include "factors_by_others.hpp"
#include "matched.hpp"
#include "ordering.hpp"
#include "substitution.hpp"

#include "core/counted.hpp"
#include "core/symmetry.hpp"
#include "preconditioners/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace furrow::lu {
namespace {

/// Which factors, by cost. A matrix that holds little but entries or has few rows, and a band that holds little but
/// entries, need no ordering, and loops without indices: of 67 rows an order alone takes as long as dense factors, and
/// up to 200 the sparse ones take as long again, but for those that hardly fill in.
std::string_view cheapest(double n, double entries, bandwidth w) {
  if (n <= 72 || (n <= double(most_dense_rows) && n * n <= 3 * entries)) return "dense";
  if (double(2 * w.below + w.above + 1) * n <= 4 * entries) return "band";
  return n <= 200 && entries >= 3.5 * n ? "dense" : "sparse";
}

constexpr double unit = std::numeric_limits<double>::epsilon() / 2;

/// Whether the error of the factors hides what the condition number is, which rounding of A does not.
bool hides_condition(const factors& f, const condition_numbers& c) {
  constexpr double much = 0.01;
  return f.error * c.skeel > much && unit * c.skeel <= much;
}

/// From where on factors are not those of A: two corrections make no rounding of such an error.
constexpr double most_error = 1e-8;

/// Up to so much of A^-1 as it is scaled may be rounding where factors tell what it is.
constexpr double clear = 0.1;

/// Up to so much is rounding in factors in which nothing grew.
constexpr double rounding = 1e-12;

/// Up to so many rows dense factors, whose columns keep their order, take less than a second.
constexpr index_t rows_of_dense = 2000;

/// Whether factors with that error tell what A^-1 is: such a part of it is no more than rounding of factors in which
/// nothing grew. `skeel`: cond(R A C). Factors of D (L - 0.3 I) D with D = 1e-12 to 1e12 have errors of 1e-13 to 2e-12
/// beside one of 1e7.
bool tell_inverse(double error, double skeel) {
  return unit * skeel <= clear && (error <= rounding || error * skeel <= 1e-3);
}

/// Whether pivots have grown so far that the factors are those of another matrix, whose condition number is no news of
/// A. `error`: theirs; `skeel`: | |A^-1| |A| |_inf.
bool is_far(double error, double skeel) {
  const bool far = !(error <= most_error) && !(error * skeel <= 0.01);
  return far || (unit * skeel > 0.01 && !(error <= rounding));
}

/// Scales once more, so that entries of the matching of the largest product are near 1 and no others larger. Whether
/// scales stayed in the range.
bool scale_further(scaled_columns& s) {
  arranged_columns m = scale_by_matching(s.a);
  for (index_t i = 0; i < s.a.n; ++i) {
    m.row_scale[i] *= s.row_scale[i], m.col_scale[i] *= s.col_scale[i];
    if (!std::isnormal(m.row_scale[i]) || !std::isnormal(m.col_scale[i])) return false;
  }
  s = {std::move(m.a), std::move(m.row_scale), std::move(m.col_scale)};
  return true;
}

/// cond(A), by some six solves.
double skeel_of(const columns& a, const factors& f) {
  host_array<double> row_sum(a.n, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) row_sum[a.row[k]] += std::abs(a.val[k]);
  return amplified(row_sum, [&](double* x, bool across) { f.solve(x, across); });
}

/// What is asked for of factors.
struct wanted {
  std::string_view which; ///< empty: the cheapest
  order_wish wish = order_wish::cheapest;
  bool whole = false; ///< not of diagonal blocks
};

/// Those of a matrix as one piece. `order`: where one is known already.
std::unique_ptr<factors> factor_whole(const columns& a, const wanted& w, const most_operations& operations,
                                      column_order order = {}) {
  const bandwidth band = bandwidth_of(a);
  std::string_view which = w.which;
  if (which.empty()) which = w.wish == order_wish::cheapest ? cheapest(double(a.n), double(a.nnz()), band) : "sparse";
  const double n = double(a.n);
  const auto counted = [&](double takes, auto make) {
    if (takes > operations.most) refuse_operations(operations.most);
    std::unique_ptr<factors> f = make();
    f->work = takes;
    return f;
  };
  if (which == "dense") return counted(2.0 / 3 * n * n * n, [&] { return factor_dense(a); });
  if (which == "band")
    return counted(2 * n * double(band.below) * double(band.below + band.above), [&] { return factor_band(a, band); });
  const supernodes by = w.which.empty()         ? supernodes::where_they_pay
                        : which == "supernodal" ? supernodes::only
                                                : supernodes::none;
  return factor_sparse(a, {}, operations, std::move(order), w.wish, by);
}

/// Whether sparse factors that nobody wants in an order may be those of diagonal blocks. A symmetric pattern without a
/// zero on the diagonal has none but parts that nothing connects, between which nothing fills in anyway.
bool may_have_blocks(const columns& a, const wanted& w) {
  if (w.which == triangle) return true;
  if (w.whole || a.symmetric_pattern || w.wish != order_wish::cheapest) return false;
  if (!w.which.empty()) return w.which == "sparse";
  return cheapest(double(a.n), double(a.nnz()), bandwidth_of(a)) == "sparse";
}

/// Where one block has more than seven eighths of the rows, the others save less than it takes to make a matrix of it:
/// gemat11, nine tenths of whose rows are one block, takes a tenth longer with blocks, lns_3937 as long.
std::unique_ptr<factors> factor(const columns& a, const transversal& rows, const wanted& w,
                                const most_operations& operations, column_order order = {}) {
  if (may_have_blocks(a, w))
    if (block_form f = find_blocks(a, rows); 8 * f.largest() <= 7 * a.n)
      return factor_blocks(a, std::move(f), operations, [&](const columns& block, const most_operations& most) {
        return factor_whole(block, w, most);
      });
  return factor_whole(a, w, operations, std::move(order));
}

/// In place of factors of diagonal blocks in which pivots grew, where they are nearer to A: those of all rows have
/// other pivots to choose from, and an order of columns of their own. `error`: that of the factors.
void take_whole(std::unique_ptr<factors>& kept, const columns& a, const wanted& w, const most_operations& operations,
                double& error) {
  try {
    auto f = factor_whole(a, w, operations);
    const double e = f->error > 0 ? f->error : backward_error(a, *f);
    if (!(error <= e)) error = e, kept = std::move(f);
  } catch (const refusal& r) { // too dear, or without a pivot
    if (r.why != status::singular && r.why != status::max_iterations) throw;
  } catch (const furrow::error& e) {
    if (e.kind != fault::memory) throw;
  }
}

} // namespace

/// Cholesky's factors where they were asked for, or are the cheapest, and can be had. `order`: that of the columns,
/// once it is known.
template <class V>
bool inverse<V>::factor_symmetric(const coo<V>& a, std::string_view which, double operations, column_order& order) {
  const bool asked = which == "cholesky";
  if (!asked && !which.empty()) return false;
  const diagonals d = diagonals_of(a);
  if (!asked &&
      (!d.positive || d.width.below != d.width.above ||
       (wish_ == order_wish::cheapest && cheapest(double(a.shape.rows), double(a.nnz()), d.width) != "sparse")))
    return false;
  std::optional<scaled_columns> s = scale_symmetric(a);
  if (s) {
    factors_ = factor_cholesky(s->a, order, wish_, {}, operations);
  }
  if (!factors_ && asked)
    throw refusal{status::not_positive_definite, "the matrix is not symmetric and positive definite: lu:cholesky has "
                                                 "no factors of it; take lu"};
  if (!factors_) return false;
  row_scale_ = std::move(s->row_scale);
  col_scale_ = std::move(s->col_scale);
  return true;
}

/// Their error. Pivots that are the largest of their columns may grow until nothing of A is left in the factors, or one
/// is exactly zero (J. H. Wilkinson, 1961; S. J. Wright, 1993). Then those of A' hardly do, which are from rows of A.
template <class V>
double inverse<V>::factor_any(const coo<V>& a, scaled_columns s, std::string_view which,
                              const most_operations& operations, column_order order) {
  const transversal rows = transversal_of(s.a);
  if (rows.without >= 0) refuse_singular(rows.without);
  row_scale_ = std::move(s.row_scale);
  col_scale_ = std::move(s.col_scale);
  factors_.reset();
  double error = std::numeric_limits<double>::infinity();
  std::optional<refusal> without;
  wanted w{which, wish_};
  try {
    factors_ = factor(s.a, rows, w, operations, std::move(order));
    error = factors_->error; // of one of the blocks
    if (error == 0 || factors_->blocks > 1)
      if (const double e = backward_error(s.a, *factors_); !(e <= error)) error = e;
    w.whole = factors_->blocks > 1 && !(error <= rounding);
    if (w.whole) take_whole(factors_, s.a, w, operations, error);
  } catch (const refusal& r) {
    if (r.why != status::singular) throw;
    without = r;
  }
  if (error <= most_error || (factors_ && factors_->raised > 0)) return error;
  const auto take_from_rows = [&](const wanted& how) {
    try {
      const columns across = transposed(s.a);
      auto f = std::make_unique<factors_by_rows>(factor(across, transversal_of(across), how, operations));
      const double e = backward_error(s.a, *f);
      if (e <= most_error) error = e, factors_ = std::move(f);
    } catch (const refusal& r) {
      const bool too_dear = without && r.why == status::max_iterations; // to look whether A is regular after all
      if (r.why != status::singular && !too_dear) throw;
    }
  };
  if (!is_symmetric(a)) {
    take_from_rows(w);
    if (!(error <= most_error) && which != "dense" && a.shape.rows <= rows_of_dense) take_from_rows({"dense", wish_});
  }
  if (without && factors_) estimate_condition(a); // of a singular matrix a pivot may be rounding, too
  if (without && !(unit * condition_.skeel <= 0.01 && factors_)) throw *without;
  return error;
}

template <class V> void inverse<V>::estimate_condition(const coo<V>& a) {
  condition_ = condition_of(a, [&](double* x, double* y, bool transposed) {
    stops_set_up::at_row(0);
    solve(x, y, transposed);
  });
}

/// cond(R A C), by some six solves: units of columns make cond(A) large, and say nothing of the factors.
template <class V> double inverse<V>::condition_as_scaled(const coo<V>& a) const {
  host_array<double> row_sum(a.shape.rows, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k)
    row_sum[a.row[k]] += std::abs(double(a.val[k]) * row_scale_[a.row[k]] * col_scale_[a.col[k]]);
  return lu::amplified(row_sum, [this](double* x, bool across) { factors_->solve(x, across); });
}

template <class V> bool inverse<V>::are_of_another_matrix(const coo<V>& a, double error) const {
  return is_far(error, condition_.skeel) && is_far(error, condition_as_scaled(a));
}

/// Their error; infinite where there are none.
template <class V>
double inverse<V>::try_factors(const coo<V>& a, scaled_columns s, std::string_view which,
                               const most_operations& operations) {
  try {
    return factor_any(a, std::move(s), which, operations, {});
  } catch (const refusal& r) { // too dear, or without a pivot
    if (r.why != status::singular && r.why != status::max_iterations) throw;
  } catch (const furrow::error& f) {
    if (f.kind != fault::memory) throw;
  }
  return std::numeric_limits<double>::infinity();
}

/// In place of factors that pivots have left far from A, where these are nearer: the largest entries of rows, and then
/// of columns, are near 1 however the units of columns differ, but not what stands beside them.
template <class V>
void inverse<V>::factor_by_matching(const coo<V>& a, std::string_view which, const most_operations& operations,
                                    double& error) {
  scaled_columns s = scale_and_sort(a);
  if (!scale_further(s)) return;
  auto before = std::move(factors_);
  auto row_before = std::move(row_scale_), col_before = std::move(col_scale_);
  const double e = try_factors(a, std::move(s), which, operations);
  if (factors_ && factors_->raised == 0 && std::isfinite(e) && !(error <= e)) {
    error = e;
    estimate_condition(a);
  } else {
    factors_ = std::move(before), row_scale_ = std::move(row_before), col_scale_ = std::move(col_before);
  }
}

template <class V>
inverse<V>::inverse(const coo<V>& a, std::string_view which, const most_operations& operations, order_wish wish)
    : wish_(wish) {
  if (a.shape.rows == 0) return;
  take_nearest(a, which, operations);
  blurred_ =
      which != triangle && factors_->raised == 0 && unit * condition_.skeel > 0.01 && hides_inverse(a, operations);
}

/// In units that make cond(R A C) small the factors of A are those of R A C where their error is small there. Where it
/// is more, others in those units tell.
template <class V> bool inverse<V>::hides_inverse(const coo<V>& a, const most_operations& operations) {
  if (unit * condition_as_scaled(a) <= clear) return false;
  scaled_columns s = scale_and_sort(a);
  if (!scale_further(s)) return true;
  host_array<double> row(s.a.n), col(s.a.n);
  for (index_t i = 0; i < s.a.n; ++i) row[i] = row_scale_[i] / s.row_scale[i], col[i] = col_scale_[i] / s.col_scale[i];
  const factors_in_units f(*factors_, std::move(row), std::move(col));
  const double moved = backward_error(s.a, f);
  if (tell_inverse(moved, skeel_of(s.a, f))) return false;
  if (moved <= rounding) return true;
  auto other = std::unique_ptr<inverse>(new inverse);
  const double error = other->try_factors(a, std::move(s), {}, operations);
  if (!std::isfinite(error) || !tell_inverse(error, other->condition_as_scaled(a))) return true;
  in_other_units_ = std::move(other);
  return false;
}

template <class V>
void inverse<V>::take_nearest(const coo<V>& a, std::string_view which, const most_operations& operations) {
  given_bytes_ = double(sizeof(V) + 8) * double(a.nnz());
  column_order order;
  const bool symmetric = factor_symmetric(a, which, operations.by_panels, order);
  double error = symmetric ? 0 : factor_any(a, scale_and_sort(a), which, operations, std::move(order));
  if (factors_->raised == 0) estimate_condition(a);
  if (factors_->raised == 0 && are_of_another_matrix(a, error)) {
    factor_by_matching(a, which, operations, error);
    hides_condition_ = are_of_another_matrix(a, error);
  }
  if (hides_condition_) condition_ = {};
  if (!lu::hides_condition(*factors_, condition_)) return;
  if (!which.empty()) { // no estimate of another matrix's
    condition_ = {};
    return;
  }
  factor_any(a, scale_and_sort(a), "sparse", operations, {});
  factors_->remark = "those by supernodes hide the condition number";
  estimate_condition(a);
}

template <class V> void inverse<V>::apply(cview<V> r, view<V> z) const {
  host_array<double> x(r.size);
  std::copy(r.begin(), r.end(), x.begin());
  solve(x.data(), nullptr, false);
  for (index_t i = 0; i < z.size; ++i) z[i] = static_cast<V>(x[i]);
}

/// With the largest power of two of the columns taken out, and those of the rows in d.
template <class V> double inverse<V>::amplified(const host_array<double>& d, double size) const {
  if (in_other_units_) return in_other_units_->amplified(d, size);
  const double most = *std::ranges::max_element(col_scale_);
  host_array<double> of_rows(d.size());
  for (index_t i = 0; i < d.size(); ++i) of_rows[i] = d[i] * row_scale_[i];
  const auto by_columns = [&](double* x) {
    for (index_t i = 0; i < col_scale_.size(); ++i) x[i] *= col_scale_[i] / most;
  };
  const double found = lu::amplified(of_rows, [&](double* x, bool transposed) {
    if (transposed) by_columns(x);
    factors_->solve(x, transposed);
    if (!transposed) by_columns(x);
  });
  return found * (most / size);
}

template <class V> double inverse<V>::stored_bytes() const {
  return (factors_ ? factors_->bytes() : 0) + double(row_scale_.byte_count() + col_scale_.byte_count());
}

template <class V> std::string inverse<V>::describe() const {
  if (!factors_) return {};
  std::string text =
      fmt::format("{} factors, {:.1f} times the bytes of the entries{}", factors_->kind(),
                  factors_->bytes() / given_bytes_, factors_->dissected ? ", ordered by nested dissection" : "");
  if (factors_->blocks > 1)
    text += fmt::format(", {} diagonal blocks, the largest of {}", count_text(factors_->blocks),
                        counted_text(factors_->largest, "row"));
  if (factors_->raised > 0)
    text += fmt::format(", {} pivot{} made larger", factors_->raised, factors_->raised > 1 ? "s" : "");
  if (!factors_->remark.empty()) text += ", for " + factors_->remark;
  return text;
}

template <class V> void inverse<V>::solve(double* x, double* y, bool transposed) const {
  const auto scale = [&](double* v, const host_array<double>& by) {
    if (!v) return;
    for (index_t i = 0; i < by.size(); ++i) v[i] *= by[i];
  };
  const auto& first = transposed ? col_scale_ : row_scale_;
  const auto& last = transposed ? row_scale_ : col_scale_;
  scale(x, first), scale(y, first);
  if (factors_) y ? factors_->solve_two(x, y, transposed) : factors_->solve(x, transposed);
  scale(x, last), scale(y, last);
}

template class inverse<double>;
template class inverse<float>;

} // namespace furrow::lu
