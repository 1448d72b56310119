// SPDX-License-Identifier: BSD-3-Clause
#include "supernodal_lu.hpp"

#include "backward_error.hpp"
#include "dense_lu.hpp"
#include "panel_solve.hpp"
#include "supernodes.hpp"

#include "backends/cpu/isa.hpp"
#include "core/check.hpp"
#include "preconditioners/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace furrow::lu {
namespace {

/// The least part of the largest number of a panel that its pivots may be: smaller ones may be rounding alone, as those
/// of `lu:cholesky`. Larger ones are no harm in themselves: fidap007 has one of 1e-9, teko_szdMat one of 1e-13, and
/// both are factored with an error of rounding, which is looked at afterwards.
constexpr double least_part = 64 * std::numeric_limits<double>::epsilon();
/// And what they are made instead, by name: the root of the unit of rounding, for less of it makes others round as
/// much.
constexpr double raised_part = 1.5e-8;
/// Two corrections make such an error one of rounding. That of factors with pivots from inside is 1e-16 to 1e-13
/// mostly, as SuperLU's with pivots of a hundredth of their columns, and of nets with entries of any sign 1e-12 to
/// 1e-9.
constexpr double most_error = 1e-8;
/// With more of it, or with pivots that were made larger, factors serve as a preconditioner, and up to here as one.
constexpr double most_error_of_any = 1e-2;

class supernodal_factors final : public factors {
public:
  supernodal_factors(cholesky_pattern p, const arranged_columns* arranged)
      : p_(std::move(p)), lower_(p_.values_from.back()), upper_(p_.values_from.back()), pivots_(at(p_.place.size())) {
    if (!arranged) return;
    row_scale_ = arranged->row_scale, col_scale_ = arranged->col_scale;
    if (arranged->row_at.empty()) return;
    row_place_ = host_array<std::int32_t>(p_.place.size());
    for (index_t i = 0; i < row_place_.size(); ++i) row_place_[arranged->row_at[i]] = p_.place[i];
  }

  /// Whether that was possible without making pivots larger, or without an end to that.
  bool factor(const columns& a, bool exact) {
    elimination take{*this, a, transposed(a), host_array<std::int32_t>(a.n), exact, {}};
    for (index_t c = 0; c < a.n; ++c) take.column_at[p_.place[c]] = static_cast<std::int32_t>(c);
    return eliminate_by_supernodes(p_, take);
  }

  void solve(double* x, bool transposed) const override {
    sweep(
        transposed, 0.0, [x](index_t i) { return x[i]; }, [x](index_t i, double v) { x[i] = v; });
  }
  void solve_two(double* x, double* y, bool transposed) const override {
    sweep(
        transposed, two{},
        [x, y](index_t i) {
          return two{x[i], y[i]};
        },
        [x, y](index_t i, two v) { x[i] = v[0], y[i] = v[1]; });
  }
  double bytes() const override {
    return 2 * double(lower_.byte_count()) + 4.0 * double(p_.rows.size() + pivots_.size());
  }
  factor_size size() const override {
    double all = -double(p_.place.size());
    for (index_t s = 0; s < p_.supernodes(); ++s) {
      const auto w = double(p_.width(s));
      all += 2 * w * double(p_.height(s)) - w * (w - 1);
    }
    return {2 * p_.entries - double(p_.place.size()), bytes(), false, all, bytes()};
  }
  std::string_view kind() const override { return "supernodal"; }

private:
  struct elimination {
    supernodal_factors& f;
    const columns &a, across;
    host_array<std::int32_t> column_at;
    bool exact;
    std::vector<double> update;

    void begin(index_t s, const std::int32_t* local) {
      const cholesky_pattern& p = f.p_;
      const std::int32_t *const rows = p.rows_of(s), begin = p.first[at(s)], end = p.first[at(s + 1)];
      const panel l = f.panel_of(s, f.lower_), u = f.panel_of(s, f.upper_);
      for (index_t j = 0; j < p.width(s); ++j) {
        begin_column(l, j), begin_column(u, j);
        const std::int32_t c = column_at[rows[j]];
        for (index_t k = a.begin[c]; k < a.begin[c + 1]; ++k)
          if (const std::int32_t i = p.place[a.row[k]]; i >= begin) l.at[j * l.stride + local[i]] = a.val[k];
        for (index_t k = across.begin[c]; k < across.begin[c + 1]; ++k)
          if (const std::int32_t i = p.place[across.row[k]]; i >= end) u.at[j * u.stride + local[i]] = across.val[k];
      }
    }
    void subtract(index_t s, const supernode_update& from) {
      const panel l = f.panel_of(from.by, f.lower_), u = f.panel_of(from.by, f.upper_);
      const index_t m = l.stride - from.from, n = from.end - from.from, k = f.p_.width(from.by);
      const panel of_l{l.at + from.from, l.stride}, of_u{u.at + from.from, u.stride};
      update.assign(at(m * n), 0.0);
      subtract_product({update.data(), m}, of_l, of_u, m, n, k, false);
      add_to_panel(f.panel_of(s, f.lower_), f.p_, s, from, {update.data(), m}, [](index_t) { return 0; });
      if (m == n) return;
      update.assign(at(m * n), 0.0);
      subtract_product({update.data() + n, m}, {of_u.at + n, of_u.stride}, of_l, m - n, n, k, false);
      add_to_panel(f.panel_of(s, f.upper_), f.p_, s, from, {update.data(), m}, [n](index_t) { return n; });
    }
    bool finish(index_t s) { return f.factor_supernode(s) || !exact; }
  };

  panel panel_of(index_t s, const host_array<double>& of) const {
    return {const_cast<double*>(of.data()) + p_.values_from[at(s)], p_.height(s)};
  }

  /// Pivots of the rows of the supernode, then L of the rows below and U of the columns beside it; whether no pivot was
  /// made larger.
  bool factor_supernode(index_t s) {
    const index_t h = p_.height(s), w = p_.width(s);
    const panel l = panel_of(s, lower_), u = panel_of(s, upper_);
    double most = 0;
    cpu::widest([&]() FURROW_INLINE {
      for (index_t k = 0; k < h * w; ++k) most = std::abs(l.at[k]) > most ? std::abs(l.at[k]) : most;
    });
    if (!(most > 0)) most = 1;
    small_pivots small{least_part * most, raised_part * most};
    int* const pivots = pivots_.data() + p_.first[at(s)];
    factor_dense_panel(l, w, w, pivots, &small);
    raised += small.raised;
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i <= j; ++i) u.at[i * h + j] = l.at[j * h + i];
    for (index_t j = 0; j < w; ++j)
      if (const index_t other = pivots[j] - 1; other != j)
        std::swap_ranges(u.at + j * h + w, u.at + (j + 1) * h, u.at + other * h + w);
    solve_transposed_from_right({l.at + w, h}, h - w, u, w, false);
    solve_transposed_from_right({u.at + w, h}, h - w, l, w, true);
    return small.raised == 0;
  }

  template <class T, class Load, class Store> void sweep(bool transposed, T, Load load, Store store) const {
    const index_t n = p_.place.size();
    index_t tallest = 0;
    for (index_t s = 0; s < p_.supernodes(); ++s) tallest = std::max(tallest, p_.height(s));
    std::vector<T> y(at(n));
    std::vector<double> work(at(2 * tallest));
    const auto& of_rows = row_place_.empty() ? p_.place : row_place_;
    const auto &to = transposed ? p_.place : of_rows, &from = transposed ? of_rows : p_.place;
    const auto &first = transposed ? col_scale_ : row_scale_, &last = transposed ? row_scale_ : col_scale_;
    for (index_t i = 0; i < n; ++i) y[at(to[i])] = load(i);
    if (!first.empty())
      for (index_t i = 0; i < n; ++i) y[at(to[i])] *= first[i];
    cpu::widest([&]() FURROW_INLINE {
      transposed ? solve_transposed(y.data(), work.data()) : solve_straight(y.data(), work.data());
    });
    if (!last.empty())
      for (index_t i = 0; i < n; ++i) y[at(from[i])] *= last[i];
    for (index_t i = 0; i < n; ++i) store(i, y[at(from[i])]);
  }
  template <class T> FURROW_INLINE void solve_straight(T* y, double* space) const {
    for (index_t s = 0; s < p_.supernodes(); ++s) {
      const index_t first = p_.first[at(s)], w = p_.width(s);
      for (index_t j = first; j < first + w; ++j) std::swap(y[j], y[first + pivots_[at(j)] - 1]);
      sweep_down<true>(panel_of(s, lower_), p_.rows_of(s), w, y, space);
    }
    for (index_t s = p_.supernodes(); s-- > 0;)
      sweep_up<false>(panel_of(s, upper_), p_.rows_of(s), p_.width(s), y, space);
  }
  template <class T> FURROW_INLINE void solve_transposed(T* y, double* space) const {
    for (index_t s = 0; s < p_.supernodes(); ++s)
      sweep_down<false>(panel_of(s, upper_), p_.rows_of(s), p_.width(s), y, space);
    for (index_t s = p_.supernodes(); s-- > 0;) {
      const index_t first = p_.first[at(s)], w = p_.width(s);
      sweep_up<true>(panel_of(s, lower_), p_.rows_of(s), w, y, space);
      for (index_t j = first + w; j-- > first;) std::swap(y[j], y[first + pivots_[at(j)] - 1]);
    }
  }

  cholesky_pattern p_;
  host_array<std::int32_t> row_place_;       ///< of the rows of A; empty: that of the columns
  host_array<double> row_scale_, col_scale_; ///< empty: ones
  host_array<double> lower_, upper_;         ///< L with U in its upper triangles, and U'
  std::vector<int> pivots_;                  ///< as `factor_dense_panel` leaves them, of each supernode
};

} // namespace

std::unique_ptr<factors> factor_supernodal(const columns& a, const host_array<std::int32_t>& place, host_room budget,
                                           const supernodal_wish& wish, std::string& not_exact) {
  const columns& factored = wish.arranged ? wish.arranged->a : a;
  cholesky_pattern p = pattern_of_factor(wish.pattern ? *wish.pattern : factored, place);
  const double bytes = 16 * double(p.values_from.back()) + 12 * double(a.nnz());
  if (!budget.takes(bytes))
    throw_sentence(fault::memory,
                   "the factors of the matrix take {:.3g} GB, of which {:.3g} GB can be had: take an iterative solver",
                   bytes * 1e-9, budget.bytes() * 1e-9);
  auto f = std::make_unique<supernodal_factors>(std::move(p), wish.arranged);
  if (!f->factor(factored, wish.exact)) {
    not_exact = "those by supernodes want pivots from outside of these";
    return nullptr;
  }
  f->error = backward_error(a, *f);
  if (wish.exact && !(f->error <= most_error)) {
    not_exact = fmt::format("those by supernodes have an error of {:.1e}", f->error);
    return nullptr;
  }
  if (!(f->error <= most_error_of_any))
    throw refusal{status::breakdown,
                  "the matrix wants pivots from outside of the supernodes, so that lu:supernodal has "
                  "no factors that are near enough: take lu"};
  return f;
}

} // namespace furrow::lu
