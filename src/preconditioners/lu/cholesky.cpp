// SPDX-License-Identifier: BSD-3-Clause
#include "cholesky.hpp"

#include "cholesky_pattern.hpp"
#include "order_choice.hpp"
#include "panel_product.hpp"
#include "supernodes.hpp"

#include "backends/cpu/isa.hpp"
#include "core/check.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow::lu {
namespace {

/// Pivots of a matrix with ones on its diagonal: smaller ones may be rounding alone.
constexpr double least_pivot = 64 * std::numeric_limits<double>::epsilon();

/// Operations in a second on two cores of an Intel Xeon, most of them in products of panels: 15 to 38e9.
constexpr double products_a_second = 2e10;

class cholesky_factors final : public factors {
public:
  explicit cholesky_factors(cholesky_pattern p) : p_(std::move(p)), values_(p_.values_from.back()) {}

  /// Whether all pivots are positive.
  bool factor(const columns& a) {
    elimination take{*this, a, host_array<std::int32_t>(a.n), {}};
    for (index_t c = 0; c < a.n; ++c) take.column_at[p_.place[c]] = static_cast<std::int32_t>(c);
    return eliminate_by_supernodes(p_, take);
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

  struct elimination {
    cholesky_factors& f;
    const columns& a;
    host_array<std::int32_t> column_at;
    std::vector<double> update;

    void begin(index_t s, const std::int32_t* local) {
      const std::int32_t* const rows = f.p_.rows_of(s);
      const panel mine = f.panel_of(s);
      for (index_t j = 0; j < f.p_.width(s); ++j) {
        begin_column(mine, j);
        for (index_t k = a.begin[column_at[rows[j]]]; k < a.begin[column_at[rows[j]] + 1]; ++k)
          if (const std::int32_t i = f.p_.place[a.row[k]]; i >= rows[j]) mine.at[j * mine.stride + local[i]] = a.val[k];
      }
    }
    void subtract(index_t s, const supernode_update& u) {
      const panel other = f.panel_of(u.by), here{other.at + u.from, other.stride};
      const index_t m = other.stride - u.from, n = u.end - u.from;
      update.assign(at(m * n), 0.0);
      subtract_product({update.data(), m}, here, here, m, n, f.p_.width(u.by), true);
      add_to_panel(f.panel_of(s), f.p_, s, u, {update.data(), m}, [](index_t j) { return j; });
    }
    bool finish(index_t s) { return factor_panel(f.panel_of(s), f.p_.height(s), f.p_.width(s), least_pivot) < 0; }
  };

  template <class T, class Load, class Store> void sweep(T, Load load, Store store) const {
    const index_t n = p_.place.size();
    index_t tallest = 0;
    for (index_t s = 0; s < p_.supernodes(); ++s) tallest = std::max(tallest, p_.height(s));
    std::vector<T> y(at(n));
    std::vector<double> work(at(2 * tallest));
    for (index_t i = 0; i < n; ++i) y[at(p_.place[i])] = load(i);
    cpu::widest([&]() FURROW_INLINE {
      for (index_t s = 0; s < p_.supernodes(); ++s)
        sweep_down<false>(panel_of(s), p_.rows_of(s), p_.width(s), y.data(), work.data());
      for (index_t s = p_.supernodes(); s-- > 0;)
        sweep_up<false>(panel_of(s), p_.rows_of(s), p_.width(s), y.data(), work.data());
    });
    for (index_t i = 0; i < n; ++i) store(i, y[at(p_.place[i])]);
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
