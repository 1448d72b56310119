// SPDX-License-Identifier: BSD-3-Clause
#include "rows_of_inverse.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/parameters.hpp"
#include "matrix/permute.hpp"
#include "matrix/triangular.hpp"
#include "preconditioners/symmetric_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace furrow::fsai_preconditioner {
namespace {

/// y = T x by rows.
template <class V> void multiply(const row_matrix<V>& t, cview<V> x, view<V> y) {
  cpu::for_each_range(y.size, 1 << 12, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      V sum = 0;
      for (index_t k = t.row_ptr[i]; k < t.row_ptr[i + 1]; ++k) sum += t.val[k] * x[t.col[k]];
      y[i] = sum;
    }
  });
}

/// M = (G S)' G S, S = |diag A|^-1/2: symmetric and positive definite whatever A is. Both factors are kept by rows; an
/// application is a product with each and takes no memory. One application at a time.
template <class V> class factorised_inverse final : public any_preconditioner<V> {
public:
  factorised_inverse(row_matrix<V> g, std::string about)
      : g_(std::move(g)), transposed_(transposed_rows(g_.view())), about_(std::move(about)), work_(g_.shape.rows) {}
  void apply(cview<V> r, view<V> z) const override {
    multiply(g_, r, as_view(work_));
    multiply(transposed_, as_cview(work_), z);
  }
  double stored_bytes() const override {
    return double(2 * (g_.row_ptr.byte_count() + g_.col.byte_count() + g_.val.byte_count()) + work_.byte_count());
  }
  std::string describe() const override { return about_; }

private:
  row_matrix<V> g_, transposed_;
  std::string about_;
  mutable host_array<V> work_;
};

index_t level_from(std::string_view text) { return entry_parameters("fsai[:LEVEL]", text).whole(0, 1, 1, 4); }

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view text, device, solver_needs needed) {
  const index_t level = level_from(text), n = a.shape.rows;
  const rows_of_triplets<V> rows(a);
  const auto scale = symmetric_scaling(rows.view(), needed.a.definite, "fsai");
  inverse_factor f = rows_of_inverse(arranged(rows.view(), {{}, {}, scale, scale}).view(), level);
  row_matrix<V> g{a.shape, std::move(f.g.row_ptr), std::move(f.g.col), host_array<V>(f.g.nnz())};
  for (index_t k = 0; k < g.nnz(); ++k) g.val[k] = static_cast<V>(f.g.val[k] * scale[g.col[k]]);
  std::string about =
      fmt::format("fsai:{}: {:.1f} entries a row", level, double(g.nnz()) / double(std::max<index_t>(n, 1)));
  if (f.diagonal_rows > 0)
    about += fmt::format("; {} of {} rows are not positive definite at their places and keep their diagonal",
                         f.diagonal_rows, n);
  return std::make_unique<factorised_inverse<V>>(std::move(g), std::move(about));
}

/// Each level beyond the first is taken to triple the entries, as on grids.
preconditioner_layout lay_out(const stats& s, precision p, std::string_view text) {
  const index_t level = level_from(text);
  const double n = double(s.shape.rows);
  double entries = (double(s.nnz) + n) / 2;
  for (index_t k = 1; k < level; ++k) entries *= 3;
  entries = std::min(entries, n * double(most_places));
  const double kept = 2 * (entries * (4 + bytes_of(p)) + 8 * n) + n * bytes_of(p);
  return {kept, kept + 12 * double(s.nnz) + 36 * entries + 40 * n, false};
}

} // namespace

extern const preconditioner_entry entry{
    "fsai",       "factorised sparse inverse of a symmetric A; cannot break down where A is definite",
    {true, true}, lay_out,
    make<double>, make<float>,
    "[:LEVEL]",   false};

} // namespace furrow::fsai_preconditioner
