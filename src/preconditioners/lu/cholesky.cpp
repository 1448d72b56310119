// SPDX-License-Identifier: BSD-3-Clause
#include "cholesky.hpp"

#include "cholesky_pattern.hpp"
#include "order_choice.hpp"
#include "panel_product.hpp"
#include "panel_sweeps.hpp"

#include "backends/cpu/isa.hpp"
#include "core/check.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow::lu {
namespace {

/// Pivots of a matrix with ones on its diagonal: smaller ones may be rounding alone.
constexpr double least_pivot = 64 * std::numeric_limits<double>::epsilon();

/// Operations in a second on two cores of an Intel Xeon, most of them in products of panels: 15 to 38e9.
constexpr double products_a_second = 2e10;

/// Supernodes so narrow are gone through where their numbers lie: bringing them together takes longer than it saves.
constexpr index_t few_columns = 3;

class cholesky_factors final : public factors {
public:
  explicit cholesky_factors(cholesky_pattern p) : p_(std::move(p)), values_(p_.values_from.back(), 0.0) {}

  /// Whether all pivots are positive.
  bool factor(const columns& a) {
    const index_t n = a.n, count = p_.supernodes();
    host_array<std::int32_t> column_at(n);
    for (index_t c = 0; c < n; ++c) column_at[p_.place[c]] = static_cast<std::int32_t>(c);
    // Of each supernode those that change it next, and of each of these the first of its rows that is not done.
    std::vector<std::int32_t> head(at(count), -1), next(at(count), -1), local(at(n), 0);
    std::vector<index_t> done(at(count), 0);
    std::vector<double> update;
    for (index_t s = 0; s < count; ++s) {
      stops_set_up::at_row(s);
      const index_t h = p_.height(s), w = p_.width(s);
      const std::int32_t* const rows = p_.rows_of(s);
      for (index_t i = 0; i < h; ++i) local[at(rows[i])] = static_cast<std::int32_t>(i);
      const panel mine = panel_of(s);
      for (index_t j = 0; j < w; ++j)
        for (index_t k = a.begin[column_at[rows[j]]]; k < a.begin[column_at[rows[j]] + 1]; ++k)
          if (const std::int32_t i = p_.place[a.row[k]]; i >= rows[j]) mine.at[j * h + local[at(i)]] = a.val[k];
      for (std::int32_t d = head[at(s)]; d >= 0;) {
        const std::int32_t after = next[at(d)];
        subtract(d, done[at(d)], s, mine, local, update);
        wait_for_next(d, head, next, done);
        d = after;
      }
      if (factor_panel(mine, h, w, least_pivot) >= 0) return false;
      done[at(s)] = w;
      wait_for_next(static_cast<std::int32_t>(s), head, next, done);
    }
    return true;
  }

  void solve(double* x, bool) const override {
    sweep(
        0.0, [x](index_t i) { return x[i]; }, [x](index_t i, double v) { x[i] = v; });
  }
  void solve_two(double* x, double* y, bool) const override {
    sweep(
        two{},
        [x, y](index_t i) {
          return two{x[i], y[i]};
        },
        [x, y](index_t i, two v) { x[i] = v[0], y[i] = v[1]; });
  }
  double bytes() const override { return double(values_.byte_count()) + 4.0 * double(p_.rows.size()); }
  factor_size size() const override { return {p_.entries, bytes(), false, places(), bytes()}; }
  std::string_view kind() const override { return "Cholesky"; }

private:
  panel panel_of(index_t s) const {
    return {const_cast<double*>(values_.data()) + p_.values_from[at(s)], p_.height(s)};
  }
  double places() const {
    double all = 0;
    for (index_t s = 0; s < p_.supernodes(); ++s) {
      const auto w = double(p_.width(s));
      all += w * double(p_.height(s)) - w * (w - 1) / 2;
    }
    return all;
  }

  /// Files a supernode under the one that it changes next.
  void wait_for_next(std::int32_t d, std::vector<std::int32_t>& head, std::vector<std::int32_t>& next,
                     const std::vector<index_t>& done) const {
    if (done[at(d)] >= p_.height(d)) return;
    const std::int32_t s = p_.supernode_of[at(p_.rows_of(d)[done[at(d)]])];
    next[at(d)] = head[at(s)], head[at(s)] = d;
  }

  /// Takes from the panel of s what the columns of d leave there; `from`: the first of the rows of d that are columns
  /// of s, on return the first behind them.
  void subtract(std::int32_t d, index_t& from, index_t s, panel mine, const std::vector<std::int32_t>& local,
                std::vector<double>& update) const {
    const std::int32_t* const rows = p_.rows_of(d);
    const panel other = panel_of(d);
    index_t end = from;
    while (end < other.stride && rows[end] < p_.first[at(s + 1)]) ++end;
    const index_t m = other.stride - from, n = end - from;
    update.assign(at(m * n), 0.0);
    const panel here{other.at + from, other.stride};
    subtract_product({update.data(), m}, here, here, m, n, p_.width(d), true);
    for (index_t j = 0; j < n; ++j) {
      double* const to = mine.at + (rows[from + j] - p_.first[at(s)]) * mine.stride;
      const double* const what = update.data() + j * m;
      for (index_t i = j; i < m; ++i) to[local[at(rows[from + i])]] += what[i];
    }
    from = end;
  }

  template <class T, class Load, class Store> void sweep(T, Load load, Store store) const {
    const index_t n = p_.place.size();
    index_t tallest = 0;
    for (index_t s = 0; s < p_.supernodes(); ++s) tallest = std::max(tallest, p_.height(s));
    std::vector<T> y(at(n));
    std::vector<double> work(at(2 * tallest));
    for (index_t i = 0; i < n; ++i) y[at(p_.place[i])] = load(i);
    cpu::widest([&]() FURROW_INLINE {
      for (index_t s = 0; s < p_.supernodes(); ++s) forward(s, y.data(), work.data());
      for (index_t s = p_.supernodes(); s-- > 0;) backward(s, y.data(), work.data());
    });
    for (index_t i = 0; i < n; ++i) store(i, y[at(p_.place[i])]);
  }

  /// The part of one supernode of L y' = y, and of L' y' = y: its rows come together first.
  template <class T> FURROW_INLINE void forward(index_t s, T* y, double* at) const {
    const panel l = panel_of(s);
    const index_t h = l.stride, w = p_.width(s);
    const std::int32_t* const rows = p_.rows_of(s);
    if (w <= few_columns) {
      for (index_t j = 0; j < w; ++j) {
        const double* const column = l.at + j * h;
        const T v = y[rows[j]] / column[j];
        y[rows[j]] = v;
        for (index_t i = j + 1; i < h; ++i) y[rows[i]] -= v * column[i];
      }
      return;
    }
    panel_work<T> work(at, h);
    for (index_t i = 0; i < h; ++i) work.set(i, i < w ? y[rows[i]] : T{});
    panel_sweeps<T>(l.at, h, w, work).template lower<false>();
    for (index_t i = 0; i < w; ++i) y[rows[i]] = work[i];
    for (index_t i = w; i < h; ++i) y[rows[i]] += work[i];
  }
  template <class T> FURROW_INLINE void backward(index_t s, T* y, double* at) const {
    const panel l = panel_of(s);
    const index_t h = l.stride, w = p_.width(s);
    const std::int32_t* const rows = p_.rows_of(s);
    if (w <= few_columns) {
      for (index_t j = w; j-- > 0;) {
        const double* const column = l.at + j * h;
        const std::int32_t* const under = rows + j + 1;
        const T sum =
            sum_of_products<T>(column + j + 1, h - j - 1, [under, y](index_t i) FURROW_INLINE { return y[under[i]]; });
        y[rows[j]] = (y[rows[j]] - sum) / column[j];
      }
      return;
    }
    panel_work<T> work(at, h);
    for (index_t i = 0; i < h; ++i) work.set(i, y[rows[i]]);
    panel_sweeps<T>(l.at, h, w, work).template lower_transposed<false>();
    for (index_t i = 0; i < w; ++i) y[rows[i]] = work[i];
  }

  cholesky_pattern p_;
  host_array<double> values_;
};

} // namespace

namespace {

std::unique_ptr<factors> cholesky_with(cholesky_pattern p, const columns& a, host_room budget, double operations) {
  if (p.operations > operations) refuse_operations(operations);
  const double bytes = 8 * double(p.values_from.back());
  if (!budget.takes(bytes))
    throw_sentence(fault::memory,
                   "the factor of the matrix takes {:.3g} GB, of which {:.3g} GB can be had: take an iterative solver",
                   bytes * 1e-9, budget.bytes() * 1e-9);
  auto f = std::make_unique<cholesky_factors>(std::move(p));
  return f->factor(a) ? std::move(f) : nullptr;
}

} // namespace

std::unique_ptr<factors> factor_cholesky(const columns& a, const host_array<std::int32_t>& place, host_room budget,
                                         double operations) {
  return cholesky_with(pattern_of_factor(a, place), a, budget, operations);
}

std::unique_ptr<factors> factor_cholesky(const columns& a, column_order& order, order_wish wish, host_room budget,
                                         double operations) {
  cholesky_pattern p =
      count_best_order(a, order, {wish, operations, products_a_second, 1}, budget,
                       [&](const host_array<std::int32_t>& place) { return pattern_of_factor(a, place); });
  auto f = cholesky_with(std::move(p), a, budget, operations);
  if (f) f->dissected = order.dissected;
  return f;
}

} // namespace furrow::lu
