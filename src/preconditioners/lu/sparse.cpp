// SPDX-License-Identifier: BSD-3-Clause
#include "arena.hpp"
#include "column_lu.hpp"
#include "factors.hpp"
#include "fill.hpp"
#include "ordering.hpp"

#include "core/check.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#if FURROW_HAS_SUPERLU
#include <slu_ddefs.h>
#endif

namespace furrow::lu {

#if FURROW_HAS_SUPERLU
namespace {

static_assert(sizeof(int) == sizeof(std::int32_t));

/// What orders and factors take at least.
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
}

/// SuperLU takes what it only reads by pointers that could write.
NCformat view_of(const columns& a) {
  return {static_cast<int>(a.nnz()), const_cast<double*>(a.val.data()), const_cast<std::int32_t*>(a.row.data()),
          const_cast<std::int32_t*>(a.begin.data())};
}

/// How A is taken apart: an order of its columns, and the share of the largest entry of a column below which its
/// diagonal is no pivot.
struct plan {
  fill_forecast forecast;
  double threshold;
};

class column_factors final : public factors {
public:
  column_factors(const columns& a, plan p, host_room budget, double operations) try
      : column_place_(std::move(p.forecast.place)), size_(p.forecast.size), budget_(budget),
        lu_(a, column_place_, {p.threshold, operations, p.forecast.size.expected}, budget_) {
    size_.entries = lu_.entries(), size_.bytes = lu_.bytes();
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
  refuse_fill(p.forecast.size, budget);
  return std::make_unique<column_factors>(a, std::move(p), budget, operations);
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

/// An order of the columns by SuperLU.
host_array<std::int32_t> order_of(const columns& a, colperm_t which, host_room budget) {
  arena memory(budget);
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

std::unique_ptr<factors> factor_sparse(const columns& a, host_room budget, double operations,
                                       const host_array<std::int32_t>* by_minimum_degree) {
  if (!budget.takes(least_bytes(a))) refuse_memory(budget);
  const auto stay = [&](double threshold) {
    const auto place = by_minimum_degree ? *by_minimum_degree : minimum_degree(a, budget);
    return plan{forecast_fill(a, place, true), threshold};
  };
  if (a.symmetric_pattern) return factor_as(stay(0.01), a, budget, operations);
  if (is_nearly_symmetric(a)) {
    plan p = stay(0.1);
    const double worth = 1e5 + 4 * p.forecast.operations; // pivots that move fill in
    try {
      return factor_as(std::move(p), a, budget, std::min(worth, operations));
    } catch (const refusal& r) {
      if (r.why != status::max_iterations || operations <= worth) throw;
    }
  }
  return factor_as({forecast_fill(a, order_of(a, COLAMD, budget), false), 1.0}, a, budget, operations);
}

host_array<std::int32_t> minimum_degree(const columns& a, host_room budget) {
  if (!budget.takes(least_bytes(a))) refuse_memory(budget);
  return order_of(a, MMD_AT_PLUS_A, budget);
}

#else

namespace {

[[noreturn]] void refuse() {
  throw error(fault::usage, "this build of Furrow has no SuperLU, which factors sparse matrices: install "
                            "libsuperlu-dev and configure Furrow again, or ask for lu:band or lu:dense");
}

} // namespace

std::unique_ptr<factors> factor_sparse(const columns&, host_room, double, const host_array<std::int32_t>*) { refuse(); }
host_array<std::int32_t> minimum_degree(const columns&, host_room) { refuse(); }

#endif

} // namespace furrow::lu
