// SPDX-License-Identifier: BSD-3-Clause
#include "factors.hpp"
#include "norm_estimate.hpp"
#include "on_gpu.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow {
namespace lu {

void refuse_singular(index_t column) {
  throw refusal{status::singular, fmt::format("the matrix is singular: column {} is zero or a combination of others, "
                                              "up to rounding; A x = b has no answer, or many",
                                              column + 1)};
}

} // namespace lu

namespace lu_preconditioner {
namespace {

using lu::factors;

constexpr std::string_view usage = "lu[:dense|band|sparse]";

/// Which factors, by cost. A band that holds little but entries, and a matrix that holds little but entries or is tiny,
/// need no ordering, and loops without indices.
std::string_view cheapest(const lu::columns& a, lu::bandwidth w) {
  const double n = double(a.n), entries = double(a.nnz());
  if (a.n <= 50 || (a.n <= 4000 && n * n <= 3 * entries)) return "dense";
  if (double(2 * w.below + w.above + 1) * n <= 4 * entries) return "band";
  return "sparse";
}

std::unique_ptr<factors> factor(lu::columns a, std::string_view which) {
  const lu::bandwidth w = lu::bandwidth_of(a);
  if (which.empty()) which = cheapest(a, w);
  if (which == "dense") return lu::factor_dense(a);
  if (which == "band") return lu::factor_band(a, w);
  return lu::factor_sparse(std::move(a), double(available_host_memory()));
}

/// M = A^-1 = C (R A C)^-1 R, in double also for a system of floats: refinement then reaches the last digit of an x
/// in float for condition numbers up to 1e16 instead of 1e7.
template <class V> class inverse final : public any_preconditioner<V> {
public:
  inverse(const coo<V>& a, std::string_view which) {
    lu::scaled_columns s = lu::scale_and_sort(a);
    if (const index_t j = lu::column_without_row(s.a); j >= 0) lu::refuse_singular(j);
    given_bytes_ = double(sizeof(V) + 8) * double(a.nnz());
    row_scale_ = std::move(s.row_scale);
    col_scale_ = std::move(s.col_scale);
    if (a.shape.rows > 0) factors_ = factor(std::move(s.a), which);
    estimate(a);
  }

  void apply(cview<V> r, view<V> z) const override {
    host_array<double> x(r.size);
    std::copy(r.begin(), r.end(), x.begin());
    solve(x.data(), false);
    for (index_t i = 0; i < z.size; ++i) z[i] = static_cast<V>(x[i]);
  }
  double stored_bytes() const override {
    return (factors_ ? factors_->bytes() : 0) + double(row_scale_.byte_count() + col_scale_.byte_count());
  }
  condition_numbers condition() const override { return condition_; }
  std::string describe() const override {
    if (!factors_) return {};
    return fmt::format("{} factors, {:.1f} times the bytes of the entries", factors_->kind(),
                       factors_->bytes() / given_bytes_);
  }

private:
  void solve(double* x, bool transposed) const {
    const auto& first = transposed ? col_scale_ : row_scale_;
    const auto& last = transposed ? row_scale_ : col_scale_;
    for (index_t i = 0; i < first.size(); ++i) x[i] *= first[i];
    if (factors_) factors_->solve(x, transposed);
    for (index_t i = 0; i < last.size(); ++i) x[i] *= last[i];
  }

  void estimate(const coo<V>& a) {
    const auto n = static_cast<std::size_t>(a.shape.rows);
    std::vector<double> row_sum(n, 0.0), col_sum(n, 0.0);
    for (index_t k = 0; k < a.nnz(); ++k) {
      const double size = std::abs(double(a.val[k]));
      row_sum[static_cast<std::size_t>(a.row[k])] += size;
      col_sum[static_cast<std::size_t>(a.col[k])] += size;
    }
    const auto by_row_sums = [&](double* x) {
      for (std::size_t i = 0; i < n; ++i) x[i] *= row_sum[i];
    };
    if (n == 0) return;
    condition_.norm_1 = *std::ranges::max_element(col_sum) *
                        lu::norm_1_estimate(
                            a.shape.rows, [&](double* x) { solve(x, false); }, [&](double* x) { solve(x, true); });
    // | |A^-1| |A| |_inf = |A^-1 D|_inf = |D A'^-1|_1 with the row sums D of |A|.
    condition_.skeel = lu::norm_1_estimate(
        a.shape.rows, [&](double* x) { solve(x, true), by_row_sums(x); },
        [&](double* x) { by_row_sums(x), solve(x, false); });
  }

  std::unique_ptr<factors> factors_;
  host_array<double> row_scale_, col_scale_;
  double given_bytes_ = 0; ///< of the triplets
  condition_numbers condition_;
};

std::string_view checked(std::string_view parameters) {
  const entry_parameters words(usage, parameters);
  if (!words.has(0)) return {};
  const std::string_view which = words.word(0);
  if (words.has(1) || (which != "dense" && which != "band" && which != "sparse")) words.refuse("there is no such kind");
  return parameters;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view parameters, device where, solver_needs) {
  const std::string_view which = checked(parameters);
  if (!where.is_gpu()) return std::make_unique<inverse<V>>(a, which);
  check(which.empty() || which == "sparse", fault::usage, "lu:{} has no GPU part: take lu there, or solve on the CPU",
        which);
  return lu::factored_by_cudss(a, where);
}

/// The factors hold at least what A holds; how much more is known when they are there, and refused as it is asked for.
preconditioner_layout lay_out(const stats& s, precision, std::string_view parameters) {
  checked(parameters);
  const double n = double(s.shape.rows), entries = double(s.nnz);
  return {.bytes = 12 * entries + 36 * n, .making = 24 * entries + 100 * n, .exact = false};
}

} // namespace

extern const preconditioner_entry entry{.name = "lu",
                                        .about = "M = A^-1 by a complete factorisation",
                                        .keeps = {true, true},
                                        .lay_out = lay_out,
                                        .f64 = make<double>,
                                        .f32 = make<float>,
                                        .parameters = "[:dense|band|sparse]",
                                        .on_gpu = false,
                                        .on_gpu_by_library = true};

} // namespace lu_preconditioner
} // namespace furrow
