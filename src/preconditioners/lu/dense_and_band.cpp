// SPDX-License-Identifier: BSD-3-Clause
// Dense and banded factors.
#include "band_lu.hpp"
#include "dense_lu.hpp"
#include "factors.hpp"
#include "plain_lu.hpp"

#include "core/check.hpp"
#include "core/host_room.hpp"

#include <algorithm>
#include <limits>

namespace furrow::lu {
namespace {

constexpr index_t few_rows = 256;     ///< up to which panels take longer than plain loops
constexpr index_t few_diagonals = 64; ///< and blocks do

/// `rows` numbers a column, or a refusal.
host_array<double> room_for(index_t rows, index_t n, const char* what) {
  const double bytes = 8.0 * double(rows) * double(n);
  if (host_room there; !there.takes(bytes))
    throw_sentence(fault::memory, "the {} factors take {:.3g} GB, of which {:.3g} GB can be had: {}", what,
                   bytes * 1e-9, there.bytes() * 1e-9, "take lu:sparse or an iterative solver");
  return host_array<double>(rows * n);
}

/// Of column j, one by one: `stops_set_up` is heard.
void begin_column(host_array<double>& places, index_t rows, index_t j) {
  stops_set_up::at_row(j);
  std::fill_n(places.data() + j * rows, rows, 0.0);
}

/// Every place counts, and all of them are known before.
factor_size size_of(const host_array<double>& places) {
  const double n = double(places.size()), bytes = double(places.byte_count());
  return {n, bytes, false, n, bytes};
}

void must_have_pivots(int info) {
  if (info > 0) refuse_singular(info - 1);
}

class dense_factors final : public factors {
public:
  explicit dense_factors(const columns& a) : n_(static_cast<int>(a.n)), lu_(room_for(a.n, a.n, "dense")), pivots_(a.n) {
    for (index_t j = 0; j < a.n; ++j) {
      begin_column(lu_, a.n, j);
      for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k) lu_[j * a.n + a.row[k]] = a.val[k];
    }
    if (a.n <= few_rows) must_have_pivots(factor_plain(laid_out(), pivots_.data()));
    else if (const index_t j = factor_dense_panel({lu_.data(), a.n}, a.n, a.n, pivots_.data()); j >= 0)
      refuse_singular(j);
  }
  void solve(double* x, bool transposed) const override { solve_plain(laid_out(), pivots_.data(), x, transposed); }
  void solve_two(double* x, double* y, bool transposed) const override {
    solve_plain(laid_out(), pivots_.data(), x, y, transposed);
  }
  double bytes() const override { return double(lu_.byte_count() + pivots_.byte_count()); }
  factor_size size() const override { return size_of(lu_); }
  std::string_view kind() const override { return "dense"; }

private:
  plain_lu laid_out() const { return {n_, n_ - 1, n_ - 1, 0, n_ + 1, true, const_cast<double*>(lu_.data())}; }

  int n_;
  host_array<double> lu_;
  host_array<int> pivots_;
};

class band_factors final : public factors {
public:
  band_factors(const columns& a, bandwidth w)
      : n_(static_cast<int>(a.n)), below_(static_cast<int>(w.below)), above_(static_cast<int>(w.above)),
        rows_(static_cast<int>(2 * w.below + w.above + 1)), lu_(room_for(rows_, a.n, "banded")), pivots_(a.n) {
    for (index_t j = 0; j < a.n; ++j) {
      begin_column(lu_, rows_, j);
      for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k) lu_[j * rows_ + below_ + above_ + a.row[k] - j] = a.val[k];
    }
    const bool few = w.below <= few_diagonals;
    must_have_pivots((few ? factor_plain : factor_band_by_blocks)(laid_out(), pivots_.data()));
  }
  void solve(double* x, bool transposed) const override { solve_plain(laid_out(), pivots_.data(), x, transposed); }
  void solve_two(double* x, double* y, bool transposed) const override {
    solve_plain(laid_out(), pivots_.data(), x, y, transposed);
  }
  double bytes() const override { return double(lu_.byte_count() + pivots_.byte_count()); }
  factor_size size() const override { return size_of(lu_); }
  std::string_view kind() const override { return "banded"; }

private:
  plain_lu laid_out() const {
    return {n_, below_, above_, below_ + above_, rows_, false, const_cast<double*>(lu_.data())};
  }

  int n_, below_, above_, rows_;
  host_array<double> lu_;
  host_array<int> pivots_;
};

} // namespace

std::unique_ptr<factors> factor_dense(const columns& a) {
  check(a.n <= most_dense_rows, fault::memory, "{} rows are too many for dense factors: take lu:sparse", a.n);
  return std::make_unique<dense_factors>(a);
}

std::unique_ptr<factors> factor_band(const columns& a, bandwidth w) {
  check(double(2 * w.below + w.above + 1) * double(a.n) < double(std::numeric_limits<int>::max()), fault::memory,
        "a band of {} diagonals in {} rows is too wide: take lu:sparse", w.below + w.above + 1, a.n);
  return std::make_unique<band_factors>(a, w);
}

} // namespace furrow::lu
