// SPDX-License-Identifier: BSD-3-Clause
#include "arena.hpp"
#include "column_lu.hpp"
#include "factors.hpp"
#include "fill.hpp"
#include "matched.hpp"
#include "order_choice.hpp"
#include "supernodal_choice.hpp"

#include "core/check.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#if FURROW_HAS_SUPERLU
#include <slu_ddefs.h>
#endif

namespace furrow::lu {

#if FURROW_HAS_SUPERLU
namespace {

static_assert(sizeof(int) == sizeof(std::int32_t));

/// The statistics that SuperLU keeps of a call.
struct statistics {
  SuperLUStat_t s{};
  statistics() { StatInit(&s); }
  statistics(const statistics&) = delete;
  statistics& operator=(const statistics&) = delete;
  ~statistics() { StatFree(&s); }
};

/// Whether a third of all places is expected to fill in, or the pattern tells of the last columns, which `column_lu`
/// takes as one dense panel, that so much of the work is in them.
bool fills_in(const fill_forecast& f, index_t n, double of_work = 0.5) {
  return 3 * f.size.expected > double(n) * double(n) || f.in_last_columns > of_work * f.operations;
}

/// From so much of it on that panel takes less time than those of supernodes: rows of 8 and 16 entries at random, 0.99,
/// four fifths of it to as much; a cube of 17 x 17 x 17 points, 0.51, 1.6 times as much.
constexpr double nearly_all = 0.9;

/// What SuperLU takes at least: its work space, and four arrays that it asks for at first as long as that.
double least_bytes(const columns& a) { return 512.0 * double(a.n) + 96.0 * double(a.nnz()); }

[[noreturn]] void refuse_memory(host_room budget) {
  throw_sentence(fault::memory,
                 "the factors of the matrix need more than the {:.3g} GB of memory that can be had: take an iterative "
                 "solver",
                 budget.bytes() * 1e-9);
}

/// Refuses what cannot fit by the values of the entries alone. A bound for any pivots says nothing of those that there
/// will be: the factorisation tries, within its budget.
void refuse_fill(const factor_size& s, host_room& budget) {
  if (s.is_bound) return;
  if (!budget.takes(8 * s.expected))
    throw_sentence(fault::memory,
                   "the factors of the matrix will hold {:.3g} entries, {:.3g} GB at least, of which {:.3g} GB can be "
                   "had: take an iterative solver",
                   s.expected, 8e-9 * s.expected, budget.bytes() * 1e-9);
  check(s.expected / 2 <= double(std::numeric_limits<int>::max()), fault::memory,
        "the factors of the matrix will hold {:.3g} entries, and SuperLU counts them in 32 bits: take an iterative "
        "solver",
        s.expected);
}

/// SuperLU takes what it only reads by pointers that could write.
NCformat view_of(const columns& a) {
  return {static_cast<int>(a.nnz()), const_cast<double*>(a.val.data()), const_cast<std::int32_t*>(a.row.data()),
          const_cast<std::int32_t*>(a.begin.data())};
}

/// How A is taken apart: an order of its columns, and how pivots are chosen in it.
struct plan {
  fill_forecast forecast;
  bool pivots_stay; ///< on the diagonal, but for those that are much smaller than others of their column
  double threshold;
};

class superlu_factors final : public factors {
public:
  superlu_factors(const columns& a, const plan& p, host_room budget, double operations)
      : memory_(budget), size_(p.forecast.size), n_(static_cast<int>(a.n)), perm_c_(p.forecast.place), perm_r_(a.n) {
    const arena::scope in_arena(memory_);
    try {
      factor(a, p, budget, operations);
    } catch (const superlu_aborted&) { // of memory, everywhere in what is called
      refuse_memory(budget);
    }
  }

  void solve(double* x, bool transposed) const override {
    solve_with(laid_out(), perm_r_, perm_c_, x, nullptr, transposed);
  }
  void solve_two(double* x, double* y, bool transposed) const override {
    solve_with(laid_out(), perm_r_, perm_c_, x, y, transposed);
  }
  /// Of the entries: SuperLU reserves more, and never touches the rest.
  double bytes() const override {
    return 8.0 * double(l().nzval_colptr[n_]) + 4.0 * double(l().rowind_colptr[n_]) + 12.0 * double(u().nnz);
  }
  factor_size size() const override {
    factor_size s = size_;
    s.entries = double(l().nnz) + double(u().nnz) - double(n_), s.bytes = bytes();
    return s;
  }
  std::string_view kind() const override { return "sparse"; }

private:
  const SCformat& l() const { return *static_cast<const SCformat*>(l_.Store); }
  const NCformat& u() const { return *static_cast<const NCformat*>(u_.Store); }
  supernodal laid_out() const {
    return {.n = n_,
            .supernodes = l().nsuper + 1,
            .first_column = l().sup_to_col,
            .rows_from = l().rowind_colptr,
            .rows = l().rowind,
            .values_from = l().nzval_colptr,
            .values = static_cast<const double*>(l().nzval),
            .u_from = u().colptr,
            .u_row = u().rowind,
            .u = static_cast<const double*>(u().nzval)};
  }

  void factor(const columns& a, const plan& p, host_room& budget, double operations) {
    superlu_options_t options;
    set_default_options(&options);
    options.SymmetricMode = p.pivots_stay ? YES : NO;
    options.DiagPivotThresh = p.threshold;
    NCformat store = view_of(a);
    SuperMatrix given{SLU_NC, SLU_D, SLU_GE, n_, n_, &store}, ordered{};
    host_array<std::int32_t> tree(a.n);
    sp_preorder(&options, &given, perm_c_.data(), tree.data(), &ordered);
    GlobalLU_t beside{};
    int info = 0;
    {
      statistics stat;
      memory_.count(stat.s.ops + TRSV, stat.s.ops + GEMV, operations);
      dgstrf(&options, &ordered, sp_ienv(2), sp_ienv(1), tree.data(), nullptr, 0, perm_c_.data(), perm_r_.data(), &l_,
             &u_, &beside, &stat.s, &info);
      work = memory_.operations();
      memory_.count(nullptr, nullptr, 0);
    }
    if (info > n_) refuse_memory(budget);
    if (info > 0) refuse_singular(std::ranges::find(perm_c_, info - 1) - perm_c_.begin());
    require(info == 0, "dgstrf takes what sp_preorder made");
    Destroy_CompCol_Permuted(&ordered);
    require(memory_.bytes() > 0, "SuperLU calls the hooks for its memory");
  }

  arena memory_;
  factor_size size_;
  int n_;
  host_array<std::int32_t> perm_c_, perm_r_;
  SuperMatrix l_{}, u_{};
};

class column_factors final : public factors {
public:
  column_factors(const columns& a, plan p, host_room budget, double operations) try
      : column_place_(std::move(p.forecast.place)), size_(p.forecast.size), budget_(budget),
        lu_(a, column_place_, {p.threshold, operations, p.forecast.size.expected}, budget_) {
    size_.entries = lu_.entries(), size_.bytes = lu_.bytes();
    work = lu_.operations();
  } catch (const std::bad_alloc&) {
    refuse_memory(budget);
  }

  void solve(double* x, bool transposed) const override {
    solve_with(lu_.factors(), lu_.row_place(), column_place_, x, nullptr, transposed);
  }
  void solve_two(double* x, double* y, bool transposed) const override {
    solve_with(lu_.factors(), lu_.row_place(), column_place_, x, y, transposed);
  }
  double bytes() const override { return size_.bytes; }
  factor_size size() const override { return size_; }
  std::string_view kind() const override { return "sparse"; }

private:
  host_array<std::int32_t> column_place_;
  factor_size size_;
  growth_budget budget_;
  column_lu lu_;
};

std::unique_ptr<factors> factor_as(plan p, const columns& a, host_room budget, double operations) {
  if (p.forecast.operations > operations) refuse_operations(operations);
  refuse_fill(p.forecast.size, budget);
  if (a.n <= columns_one_by_one || fills_in(p.forecast, a.n))
    return std::make_unique<column_factors>(a, std::move(p), budget, operations);
  return std::make_unique<superlu_factors>(a, p, budget, operations);
}

/// Whether pivots can be expected to stay on the diagonal of a pattern of which half at least is mirrored. Then the
/// order for A + A' leaves down to two fifths of the fill of COLAMD, which is made for any pivots (fidap007, jpwh_991,
/// sherman5); elsewhere up to ten times as much (lns_3937, where a fifth of the diagonal is zero).
bool is_nearly_symmetric(const columns& a) {
  index_t mirrored = 0;
  host_array<std::int32_t> next(a.n);
  for (index_t j = 0; j < a.n; ++j) {
    double most = 0, diagonal = 0;
    for (std::int32_t k = next[j] = a.begin[j]; k < a.begin[j + 1]; ++k) {
      most = std::max(most, std::abs(a.val[k]));
      if (a.row[k] == j) diagonal = std::abs(a.val[k]);
    }
    if (diagonal == 0 || diagonal < 0.1 * most) return false;
  }
  for (index_t j = 0; j < a.n; ++j) // entries of a row come in the order of their columns
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) {
      const std::int32_t i = a.row[k];
      while (next[i] < a.begin[i + 1] && a.row[next[i]] < j) ++next[i];
      mirrored += i != j && next[i] < a.begin[i + 1] && a.row[next[i]] == j;
    }
  return 2 * mirrored >= a.nnz() - a.n;
}

/// Of any pivots the pattern tells a bound of the operations alone: 1.1 to 4 times those that are made of the real
/// matrices that take some, 10 times and up to 15,000 times where a row is long, which fills the bound in. Factors are
/// not begun whose bound is so many times what they may take.
constexpr double far_beyond = 10;

/// From so many of these on a matching and an order of A + A', which take the time of 1e7 to 1e8 operations of SuperLU
/// for each 10,000 rows, are tried.
constexpr double worth_a_matching = 2e8;

/// Whether a row has many times the entries of the others.
bool has_long_rows(const columns& a) {
  constexpr double many = 16;
  std::vector<index_t> entries(at(a.n), 0);
  for (const std::int32_t i : a.row) ++entries[at(i)];
  return double(std::ranges::max(entries)) * double(a.n) > many * double(a.nnz());
}

/// SuperLU's name of an order, taken from its arena.
host_array<std::int32_t> order_of(const columns& a, colperm_t which, host_room budget, const order_bounds& most = {}) {
  arena memory(budget);
  memory.bound_order(most, a.n);
  const arena::scope in_arena(memory);
  host_array<std::int32_t> place(a.n);
  NCformat store = view_of(a);
  const int n = static_cast<int>(a.n);
  SuperMatrix given{SLU_NC, SLU_D, SLU_GE, n, n, &store};
  try {
    get_perm_c(which, &given, place.data());
  } catch (const superlu_aborted&) {
    refuse_memory(budget);
  }
  return place;
}

} // namespace

std::unique_ptr<factors> factor_sparse(const columns& a, host_room budget, const most_operations& operations,
                                       column_order order, order_wish wish, supernodes by) {
  if (!budget.takes(least_bytes(a))) refuse_memory(budget);
  supernodal_choice panels(a, budget, operations.by_panels, wish, by);
  if (by == supernodes::only) return panels.by_name(std::move(order));
  if (a.symmetric_pattern || is_nearly_symmetric(a)) {
    const auto planned = [&](double a_second, double most) {
      return plan{
          count_best_order(a, order, {wish, most, a_second, 2}, budget,
                           [&](const host_array<std::int32_t>& place) { return forecast_fill(a, place, true); }),
          true, a.symmetric_pattern ? 0.01 : 0.1};
    };
    plan p = panels.may() ? planned(operations_of_supernodes, operations.by_panels)
                          : planned(operations_a_second, operations.most);
    if (panels.may() && !fills_in(p.forecast, a.n, nearly_all)) {
      const bool weak = a.symmetric_pattern && has_weak_diagonal(a);
      auto f = weak ? panels.with_pairs(faster_by_panels * p.forecast.operations) : panels.as_it_stands(p.forecast);
      if (f) {
        f->dissected = f->dissected || (!weak && order.dissected);
        return f;
      }
      if (!panels.why().empty()) p = planned(operations_a_second, operations.most);
    }
    const double worth = 1e5 + 3 * p.forecast.operations; // pivots that move fill in
    try {
      auto f = factor_as(std::move(p), a, budget, std::min(worth, operations.most));
      f->dissected = order.dissected;
      f->remark = panels.why();
      return f;
    } catch (const refusal& r) {
      if (r.why != status::max_iterations || operations.most <= worth) throw;
    }
  }
  plan p{forecast_fill(a, order_of(a, COLAMD, budget), false), false, 1.0};
  const double most = p.forecast.most_operations;
  const bool bound_is_near = !has_long_rows(a);
  if (panels.may() && panels.why().empty() && bound_is_near && most > worth_a_matching &&
      !fills_in(p.forecast, a.n, nearly_all)) {
    auto f = is_mirrored(a) ? panels.with_pairs(most) : panels.with_moved_rows(most);
    if (f) return f;
  }
  if (most > far_beyond * operations.most && bound_is_near) refuse_operations(operations.most);
  auto f = factor_as(std::move(p), a, budget, most <= operations.to_the_end ? operations.to_the_end : operations.most);
  f->remark = panels.why();
  return f;
}

host_array<std::int32_t> minimum_degree(const columns& a, host_room budget, const order_bounds& most) {
  if (!budget.takes(least_bytes(a))) refuse_memory(budget);
  return order_of(a, MMD_AT_PLUS_A, budget, most);
}

#else

namespace {

[[noreturn]] void refuse() {
  throw error(fault::usage, "this build of Furrow has no SuperLU, which factors sparse matrices: install "
                            "libsuperlu-dev and configure Furrow again, or ask for lu:band or lu:dense");
}

} // namespace

std::unique_ptr<factors> factor_sparse(const columns&, host_room, const most_operations&, column_order, order_wish,
                                       supernodes) {
  refuse();
}
host_array<std::int32_t> minimum_degree(const columns&, host_room, const order_bounds&) { refuse(); }

#endif

} // namespace furrow::lu
