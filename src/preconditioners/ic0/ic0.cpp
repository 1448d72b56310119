// SPDX-License-Identifier: BSD-3-Clause
#include "factor.hpp"

#include "backends/cpu/space.hpp"
#include "core/parameters.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/factored.hpp"
#include "preconditioners/host_factors.hpp"
#include "preconditioners/stop.hpp"
#include "preconditioners/swept_factors.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace furrow::ic0_preconditioner {
namespace {

std::string about(double shift) {
  return shift > 0 ? fmt::format("ic0: a pivot was not positive until {:g} of it was added to the diagonal", shift)
                   : std::string();
}

/// M = S (L L')^-1 S, S = |diag A|^-1/2, positive definite whatever A is. L and L' are kept by rows and solved with
/// level by level; an application reads each once and takes no memory.
template <class V> class incomplete_cholesky final : public any_preconditioner<V> {
public:
  incomplete_cholesky(host_array<V> scale, row_matrix<V> beside, const host_array<V>& inverse, double shift)
      : scale_(std::move(scale)), upper_(transposed(beside.view()), inverse, triangle::upper),
        lower_(std::move(beside), inverse, triangle::lower), shift_(shift) {}
  void apply(cview<V> r, view<V> z) const override {
    cpu::space<V> space;
    const auto s = as_cview(scale_);
    space.sweep(r.size, scale_step<V>{s, r, z});
    lower_.solve(z);
    upper_.solve(z);
    cpu::for_each_range(z.size, 1 << 14, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) z[i] *= s[i];
    });
  }
  double stored_bytes() const override {
    return double(scale_.byte_count()) + lower_.stored_bytes() + upper_.stored_bytes();
  }
  std::string describe() const override { return about(shift_); }

private:
  host_array<V> scale_;
  triangular_solver<V> upper_, lower_;
  double shift_;
};

template <class V> host_array<V> rounded(const host_array<double>& wide) {
  host_array<V> narrow(wide.size());
  std::ranges::transform(wide, narrow.begin(), [](double v) { return static_cast<V>(v); });
  return narrow;
}

/// L = D (I + N), so that S (L L')^-1 S = S D^-1 (I + N')^-1 (I + N)^-1 D^-1 S with D = diag L, N = D^-1 (L - D): one
/// half is bitwise the transpose of the other.
template <class V> unit_factors<V> with_unit_diagonal(factor f, host_array<double> scale, double shift) {
  row_matrix<V> n{f.beside.shape, std::move(f.beside.row_ptr), std::move(f.beside.col), host_array<V>(f.beside.nnz())};
  for (index_t i = 0; i < n.shape.rows; ++i) {
    scale[i] *= f.inverse_diagonal[i];
    for (index_t k = n.row_ptr[i]; k < n.row_ptr[i + 1]; ++k)
      n.val[k] = static_cast<V>(f.beside.val[k] * f.inverse_diagonal[i]);
  }
  auto upper = transposed(n.view());
  host_array<double> again(scale);
  return {std::move(n), std::move(upper), {{}, {}, std::move(scale), std::move(again)}, about(shift)};
}

index_t asked_sweeps(std::string_view text) {
  return entry_parameters("ic0[:sweeps=K]", text).whole("sweeps", 0, 1, most_sweeps);
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device where, solver_needs needed) {
  const index_t sweeps = asked_sweeps(text);
  stops_set_up::at_row(0);
  const rows_of_triplets<V> rows(a);
  stops_set_up::at_row(0);
  const auto scale = symmetric_scaling(rows.view(), needed.a.definite, "ic0");
  auto [f, shift] = factorise_shifted(scaled_lower_part(rows.view(), as_cview(scale)));
  if (sweeps > 0)
    return make_swept(with_unit_diagonal<V>(std::move(f), host_array<double>(scale), shift), sweeps, "ic0", where);
  stops_set_up::at_row(0);
  row_matrix<V> beside{a.shape, std::move(f.beside.row_ptr), std::move(f.beside.col), rounded<V>(f.beside.val)};
  auto inverse = rounded<V>(f.inverse_diagonal);
  if (where.is_gpu()) {
    auto upper = transposed(beside.view());
    stops_set_up::at_row(0);
    if (!lets_factors_stay::decide(beside, upper)) {
      arrangement moved{{}, {}, host_array<double>(scale), host_array<double>(scale)};
      host_array<V> again(inverse);
      return factored_on_gpu<V>(
          {std::move(beside), std::move(upper), std::move(inverse), std::move(again), std::move(moved), about(shift)});
    }
  }
  return std::make_unique<incomplete_cholesky<V>>(rounded<V>(scale), std::move(beside), inverse, shift);
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const double n = double(s.shape.rows), entries = double(s.nnz) / 2;
  if (asked_sweeps(parameters) > 0) {
    preconditioner_layout l = layout_of_swept(n, p, 2 * entries);
    l.making += l.bytes + 2 * 12 * entries + 40 * n;
    return l;
  }
  const double kept = 2 * entries * (4 + bytes_of(p)) + n * (2 * (8 + 4 + bytes_of(p)) + bytes_of(p));
  return {kept, kept + 2 * 12 * entries + 40 * n, false};
}

} // namespace

extern const preconditioner_entry entry{
    .name = "ic0",
    .about = "incomplete Cholesky factor on the pattern of A; A is symmetric; K sweeps replace solves",
    .keeps = {true, true},
    .lay_out = lay_out,
    .f64 = make<double>,
    .f32 = make<float>,
    .parameters = "[:sweeps=K]",
    .by_levels = true};

} // namespace furrow::ic0_preconditioner
