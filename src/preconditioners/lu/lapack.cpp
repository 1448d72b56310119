// SPDX-License-Identifier: BSD-3-Clause
// Dense and banded factors, these by LAPACK where they are wide.
#include "dense_lu.hpp"
#include "factors.hpp"
#include "plain_lu.hpp"

#include "core/check.hpp"
#include "core/host_room.hpp"

#include <limits>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
// clang-format off
void dgbtrf_(const int* m, const int* n, const int* below, const int* above, double* a, const int* lda, int* pivots, int* info);
// clang-format on
}
// NOLINTEND(readability-identifier-naming)

namespace furrow::lu {
namespace {

constexpr index_t few_rows = 256;     ///< up to which panels take longer than plain loops
constexpr index_t few_diagonals = 64; ///< and LAPACK does

/// Zeros for `rows` numbers a column, or a refusal.
host_array<double> zeros(index_t rows, index_t n, const char* what) {
  const double bytes = 8.0 * double(rows) * double(n);
  if (host_room there; !there.takes(bytes))
    throw_sentence(fault::memory, "the {} factors take {:.3g} GB, of which {:.3g} GB can be had: {}", what,
                   bytes * 1e-9, there.bytes() * 1e-9, "take lu:sparse or an iterative solver");
  return host_array<double>(rows * n, 0.0);
}

/// Every place counts, and all of them are known before.
factor_size size_of(const host_array<double>& places) {
  const double n = double(places.size()), bytes = double(places.byte_count());
  return {n, bytes, false, n, bytes};
}

void must_have_pivots(int info) {
  require(info >= 0, "LAPACK takes these arguments");
  if (info > 0) refuse_singular(info - 1);
}

class dense_factors final : public factors {
public:
  explicit dense_factors(const columns& a) : n_(static_cast<int>(a.n)), lu_(zeros(a.n, a.n, "dense")), pivots_(a.n) {
    for (index_t j = 0; j < a.n; ++j)
      for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k) lu_[j * a.n + a.row[k]] = a.val[k];
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
        rows_(static_cast<int>(2 * w.below + w.above + 1)), lu_(zeros(rows_, a.n, "banded")), pivots_(a.n) {
    for (index_t j = 0; j < a.n; ++j)
      for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k) lu_[j * rows_ + below_ + above_ + a.row[k] - j] = a.val[k];
    int info = 0;
    if (w.below <= few_diagonals) info = factor_plain(laid_out(), pivots_.data());
    else dgbtrf_(&n_, &n_, &below_, &above_, lu_.data(), &rows_, pivots_.data(), &info);
    must_have_pivots(info);
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
        "a band of {} diagonals in {} rows is too wide for LAPACK: take lu:sparse", w.below + w.above + 1, a.n);
  return std::make_unique<band_factors>(a, w);
}

} // namespace furrow::lu
