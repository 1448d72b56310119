// SPDX-License-Identifier: BSD-3-Clause
#include "largest_eigenvalue.hpp"
#include "polynomial.hpp"

#include "backends/cpu/space.hpp"
#include "core/parameters.hpp"
#include "preconditioners/stop.hpp"
#include "preconditioners/stored_product.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace furrow::chebyshev_preconditioner {
namespace {

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
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  if (needed.m.definite && !needed.a.definite)
    throw error(fault::usage, "chebyshev is positive definite only where the matrix is, which this solver does not ask "
                              "for: take jacobi or fsai");
  const index_t terms = terms_from(text);
  const rows_of_triplets<V> rows(a);
  stops_set_up::at_row(0);
  const auto scale = symmetric_scaling(rows.view(), needed.a.definite, "chebyshev");
  stops_set_up::at_row(0);
  coo<V> b = a;
  for (index_t k = 0; k < b.nnz(); ++k) b.val[k] = static_cast<V>(scale[b.row[k]] * double(b.val[k]) * scale[b.col[k]]);
  stops_set_up::at_row(0);
  double lambda = largest_row_sum(rows_of_triplets<V>(b).view());
  stops_set_up::at_row(0);
  coo<V> for_gpu;
  if (where.is_gpu()) for_gpu = b;
  auto stored = in_best_format(std::move(b), device{});
  if (needed.a.symmetric) lambda = std::min(lambda, 1.1 * largest_ritz_value(*stored, 20));
  if (where.is_gpu()) stored = in_best_format(std::move(for_gpu), where);
  if (!(lambda > 0)) throw refusal{status::breakdown, "chebyshev finds no positive eigenvalue: take another one"};
  host_array<V> narrow(scale.size());
  std::ranges::transform(scale, narrow.begin(), [](double v) { return static_cast<V>(v); });
  parts<V> p{std::move(stored), std::move(narrow), terms, lambda,
             fmt::format("chebyshev:{}: eigenvalues of the scaled matrix up to {:.4g}", terms, lambda)};
  if (where.is_gpu()) return make_on_gpu(std::move(p));
  return std::make_unique<polynomial<cpu::space<V>>>(std::move(p));
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  terms_from(text);
  const double n = double(s.shape.rows), triplets = (8 + bytes_of(p)) * double(s.nnz);
  const double kept = (4 + bytes_of(p)) * double(s.nnz) + 8 * n + 3 * bytes_of(p) * n;
  return {kept, std::max(kept, triplets) + 16 * n + 4 * double(s.nnz), false};
}

} // namespace

extern const preconditioner_entry entry{.name = "chebyshev",
                                        .about = "polynomial in the scaled A; products and no inner products",
                                        .keeps = {true, true},
                                        .lay_out = lay_out,
                                        .f64 = make<double>,
                                        .f32 = make<float>,
                                        .parameters = "[:K]",
                                        .definite_only_with_a = true};

} // namespace furrow::chebyshev_preconditioner
