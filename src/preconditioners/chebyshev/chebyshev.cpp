// SPDX-License-Identifier: BSD-3-Clause
#include "largest_eigenvalue.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/parameters.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace furrow::chebyshev_preconditioner {
namespace {

constexpr double spread = 30; ///< the interval is [lambda / spread, lambda]
constexpr index_t grain = 1 << 13;

/// M = S p(B) S, B = S A S, S = |diag A|^-1/2, p the polynomial of degree K - 1 for which 1 - t p(t) is the Chebyshev
/// polynomial of [lambda / 30, lambda] with the value 1 at 0. It is below 1 on (0, lambda], so M is definite where A is
/// and lambda is no less than B's largest eigenvalue. An application is K - 1 products with B, in the format that
/// `auto` takes, and 5 K passes over vectors; it takes no memory. One application at a time. Y. Saad, Iterative Methods
/// for Sparse Linear Systems, 2nd ed., algorithm 12.1.
template <class V> class polynomial final : public any_preconditioner<V> {
public:
  polynomial(std::unique_ptr<any_operator<V>> b, host_array<V> scale, index_t terms, double lambda, std::string about)
      : b_(std::move(b)), scale_(std::move(scale)), terms_(terms), middle_(lambda * (1 + 1 / spread) / 2),
        radius_(lambda * (1 - 1 / spread) / 2), about_(std::move(about)), step_(scale_.size()), rest_(scale_.size()) {}

  void apply(cview<V> r, view<V> z) const override {
    const view<V> d = as_view(step_), rest = as_view(rest_);
    const auto s = as_cview(scale_);
    const auto each = [&](auto body) {
      cpu::for_each_range(z.size, grain, [&](index_t first, index_t last) {
        for (index_t i = first; i < last; ++i) body(i);
      });
    };
    const double sigma = middle_ / radius_;
    double rho = 1 / sigma;
    each([&, first = V(1 / middle_)](index_t i) {
      rest[i] = s[i] * r[i];
      z[i] = d[i] = first * rest[i];
    });
    for (index_t k = 1; k < terms_; ++k) {
      const double next = 1 / (2 * sigma - rho);
      const V keep = V(next * rho), add = V(2 * next / radius_);
      rho = next;
      b_->apply(V(-1), as_cview(d), V(1), rest);
      each([&](index_t i) {
        d[i] = keep * d[i] + add * rest[i];
        z[i] += d[i];
      });
    }
    each([&](index_t i) { z[i] *= s[i]; });
  }
  double stored_bytes() const override { return b_->stored_bytes() + 3 * double(scale_.byte_count()); }
  std::string describe() const override { return about_; }

private:
  std::unique_ptr<any_operator<V>> b_;
  host_array<V> scale_;
  index_t terms_;
  double middle_, radius_;
  std::string about_;
  mutable host_array<V> step_, rest_;
};

index_t terms_from(std::string_view text) { return entry_parameters("chebyshev[:K]", text).whole(0, 4, 1, 100); }

/// The largest sum of |entries| of a row bounds all eigenvalues (S. A. Gershgorin, 1931).
template <class V> double largest_row_sum(row_view<V> b) {
  double most = 0;
  for (index_t i = 0; i < b.shape.rows; ++i) {
    double sum = 0;
    for (index_t k = b.begin(i); k < b.end(i); ++k) sum += std::abs(double(b.val[k]));
    most = std::max(most, sum);
  }
  return most;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device, solver_needs needed) {
  if (needed.m.definite && !needed.a.definite)
    throw error(fault::usage, "chebyshev is positive definite only where the matrix is, which this solver does not ask "
                              "for: take jacobi or fsai");
  const index_t terms = terms_from(text);
  const rows_of_triplets<V> rows(a);
  const auto scale = symmetric_scaling(rows.view(), needed.a.definite, "chebyshev");
  coo<V> b = a;
  for (index_t k = 0; k < b.nnz(); ++k) b.val[k] = static_cast<V>(scale[b.row[k]] * double(b.val[k]) * scale[b.col[k]]);
  double lambda = largest_row_sum(rows_of_triplets<V>(b).view());
  const choice c = choose(measure(b), precision_of<V>, device{}, {});
  auto stored = c.format->backend(device{}).template make<V>()(std::move(b), c.parameters, c.kernel);
  if (needed.a.symmetric) lambda = std::min(lambda, 1.1 * largest_ritz_value(*stored, 20));
  if (!(lambda > 0)) throw refusal{status::breakdown, "chebyshev finds no positive eigenvalue: take another one"};
  host_array<V> narrow(scale.size());
  std::ranges::transform(scale, narrow.begin(), [](double v) { return static_cast<V>(v); });
  return std::make_unique<polynomial<V>>(
      std::move(stored), std::move(narrow), terms, lambda,
      fmt::format("chebyshev:{}: eigenvalues of the scaled matrix up to {:.4g}", terms, lambda));
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  terms_from(text);
  const double n = double(s.shape.rows), triplets = (8 + bytes_of(p)) * double(s.nnz);
  const double kept = (4 + bytes_of(p)) * double(s.nnz) + 8 * n + 3 * bytes_of(p) * n;
  return {kept, std::max(kept, triplets) + 16 * n + 4 * double(s.nnz), false};
}

} // namespace

extern const preconditioner_entry entry{"chebyshev",  "polynomial in the scaled A; products and no inner products",
                                        {true, true}, lay_out,
                                        make<double>, make<float>,
                                        "[:K]",       false};

} // namespace furrow::chebyshev_preconditioner
