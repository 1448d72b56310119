// SPDX-License-Identifier: BSD-3-Clause
#include "arena.hpp"
#include "factors.hpp"
#include "fill.hpp"
#include "ordering.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <limits>

#if FURROW_HAS_SUPERLU
#include "superlu_sweeps.hpp"
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

/// Of so many columns factors are made column by column, and supernodes are columns with the same rows alone: 0 to 45 %
/// less time on the real systems than by SuperLU's own panels of 20 columns and relaxed supernodes of 10, whose zeros
/// and work space pay where factors are larger than a cache.
constexpr index_t few_columns = 5000;

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

class sparse_factors final : public factors {
public:
  sparse_factors(columns a, host_room budget, double operations)
      : memory_(budget), n_(static_cast<int>(a.n)), perm_c_(a.n), perm_r_(a.n) {
    const arena::scope in_arena(memory_);
    try {
      factor(a, budget, operations);
    } catch (const superlu_aborted&) { // of memory, everywhere in what is called
      refuse_memory(budget);
    }
  }

  void solve(double* x, bool transposed) const override {
    const auto &to = transposed ? perm_c_ : perm_r_, &from = transposed ? perm_r_ : perm_c_;
    host_array<double> y(n_);
    for (index_t i = 0; i < n_; ++i) y[to[i]] = x[i];
    superlu_sweeps sweeps(l_, u_);
    transposed ? sweeps.solve_transposed(y.data()) : sweeps.solve(y.data());
    for (index_t i = 0; i < n_; ++i) x[i] = y[from[i]];
  }
  /// Of the entries: SuperLU reserves more, and never touches the rest.
  double bytes() const override {
    const auto& l = *static_cast<const SCformat*>(l_.Store);
    const auto& u = *static_cast<const NCformat*>(u_.Store);
    return 8.0 * double(l.nzval_colptr[n_]) + 4.0 * double(l.rowind_colptr[n_]) + 12.0 * double(u.nnz);
  }
  factor_size size() const override {
    factor_size s = expected_;
    const auto& l = *static_cast<const SCformat*>(l_.Store);
    const auto& u = *static_cast<const NCformat*>(u_.Store);
    s.entries = double(l.nnz) + double(u.nnz) - double(n_), s.bytes = bytes();
    return s;
  }
  std::string_view kind() const override { return "sparse"; }

private:
  void factor(columns& a, host_room& budget, double operations) {
    superlu_options_t options;
    set_default_options(&options);
    options.SymmetricMode = a.symmetric_pattern ? YES : NO;
    options.DiagPivotThresh = a.symmetric_pattern ? 0.01 : 1.0;
    NCformat store = view_of(a);
    SuperMatrix given{SLU_NC, SLU_D, SLU_GE, n_, n_, &store}, ordered{};
    get_perm_c(a.symmetric_pattern ? MMD_AT_PLUS_A : COLAMD, &given, perm_c_.data());
    expected_ = expected_fill(a, perm_c_);
    refuse_fill(expected_, budget);
    host_array<std::int32_t> tree(a.n);
    sp_preorder(&options, &given, perm_c_.data(), tree.data(), &ordered);
    GlobalLU_t beside{};
    const bool few = a.n <= few_columns;
    int info = 0;
    {
      statistics stat;
      memory_.count(stat.s.ops + TRSV, stat.s.ops + GEMV, operations);
      dgstrf(&options, &ordered, few ? 1 : sp_ienv(2), few ? 1 : sp_ienv(1), tree.data(), nullptr, 0, perm_c_.data(),
             perm_r_.data(), &l_, &u_, &beside, &stat.s, &info);
      memory_.count(nullptr, nullptr, 0);
    }
    if (info > n_) refuse_memory(budget);
    if (info > 0) refuse_singular(std::ranges::find(perm_c_, info - 1) - perm_c_.begin());
    require(info == 0, "dgstrf takes what sp_preorder made");
    Destroy_CompCol_Permuted(&ordered);
    require(memory_.bytes() > 0, "SuperLU calls the hooks for its memory");
  }

  arena memory_;
  factor_size expected_;
  int n_;
  host_array<std::int32_t> perm_c_, perm_r_;
  SuperMatrix l_{}, u_{};
};

} // namespace

std::unique_ptr<factors> factor_sparse(columns a, host_room budget, double operations) {
  if (!budget.takes(least_bytes(a))) refuse_memory(budget);
  return std::make_unique<sparse_factors>(std::move(a), budget, operations);
}

host_array<std::int32_t> minimum_degree(const columns& a, host_room budget) {
  if (!budget.takes(least_bytes(a))) refuse_memory(budget);
  arena memory(budget);
  const arena::scope in_arena(memory);
  host_array<std::int32_t> place(a.n);
  NCformat store = view_of(a);
  const int n = static_cast<int>(a.n);
  SuperMatrix given{SLU_NC, SLU_D, SLU_GE, n, n, &store};
  try {
    get_perm_c(MMD_AT_PLUS_A, &given, place.data());
  } catch (const superlu_aborted&) {
    refuse_memory(budget);
  }
  return place;
}

#else

namespace {

[[noreturn]] void refuse() {
  throw error(fault::usage, "this build of Furrow has no SuperLU, which factors sparse matrices: install "
                            "libsuperlu-dev and configure Furrow again, or ask for lu:band or lu:dense");
}

} // namespace

std::unique_ptr<factors> factor_sparse(columns, host_room, double) { refuse(); }
host_array<std::int32_t> minimum_degree(const columns&, host_room) { refuse(); }

#endif

} // namespace furrow::lu
