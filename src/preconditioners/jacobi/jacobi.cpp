// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/space.hpp"
#include "core/parameters.hpp"
#include "preconditioners/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::jacobi_preconditioner {

#if FURROW_HAS_GPU
template <class V> void scale_on_gpu(cview<V> d, cview<V> x, view<V> y);
#else
template <class V> void scale_on_gpu(cview<V>, cview<V>, view<V>) { require(false, "this build has no GPU part"); }
#endif

namespace {

/// M = D^-1, D the diagonal of A; |D|^-1 where M must be definite and A need not. Solvers use `diagonal()` inside a
/// pass that they make anyway.
template <class V, class Array> class diagonal_scaling final : public any_preconditioner<V> {
public:
  explicit diagonal_scaling(Array inverse) : inverse_(std::move(inverse)) {}
  void apply(cview<V> r, view<V> z) const override {
    if constexpr (std::is_same_v<Array, gpu_array<V>>) scale_on_gpu<V>(as_cview(inverse_), r, z);
    else cpu::space<V>{}.sweep(r.size, scale_step<V>{as_cview(inverse_), r, z});
  }
  typename any_preconditioner<V>::kind what() const override { return any_preconditioner<V>::kind::diagonal; }
  cview<V> diagonal() const override { return as_cview(inverse_); }
  double stored_bytes() const override { return static_cast<double>(inverse_.byte_count()); }

private:
  Array inverse_;
};

template <class V> std::string about_sign(const host_array<V>& diagonal, index_t i) {
  const bool opposite = std::ranges::all_of(diagonal, [](V d) { return d < 0; });
  return fmt::format("diagonal entry {} is {}: a positive definite matrix has a positive diagonal{}", i + 1,
                     double(diagonal[i]), opposite ? "; all of this one is negative: solve -A x = -b" : "");
}

/// A[i,i]. For a solver that needs a definite matrix an entry that is not positive proves that A is none:
/// e_i' A e_i = A[i,i]. For the others an entry that is 0 has no inverse.
template <class V> host_array<V> checked_diagonal(const coo<V>& a, bool definite) {
  host_array<V> diagonal(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 14, [&](index_t first, index_t last) {
    std::fill(diagonal.data() + first, diagonal.data() + last, V(0));
  });
  cpu::for_each_range(a.nnz(), 1 << 15, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      if (a.row[k] == a.col[k]) diagonal[a.row[k]] = a.val[k];
  });
  for (index_t i = 0; i < diagonal.size(); ++i) {
    if (definite && !(diagonal[i] > 0)) throw refusal{status::not_positive_definite, about_sign(diagonal, i)};
    if (diagonal[i] == 0)
      throw refusal{
          status::breakdown,
          fmt::format("diagonal entry {} is 0, so jacobi cannot divide by it: use the preconditioner none", i + 1)};
    if (!std::isfinite(V(1) / diagonal[i]))
      throw refusal{status::breakdown,
                    fmt::format("diagonal entry {} is so small that its inverse overflows: scale the matrix", i + 1)};
  }
  return diagonal;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view, device where, solver_needs needed) {
  auto inverse = checked_diagonal(a, needed.a.definite);
  for (V& d : inverse) d = V(1) / (needed.m.definite ? std::abs(d) : d);
  if (where.is_gpu()) return std::make_unique<diagonal_scaling<V, gpu_array<V>>>(gpu_array<V>(inverse));
  return std::make_unique<diagonal_scaling<V, host_array<V>>>(std::move(inverse));
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view parameters) {
  no_parameters("jacobi", parameters);
  const double diagonal = bytes_of(p) * double(s.shape.rows);
  return {diagonal, diagonal};
}

} // namespace

extern const preconditioner_entry entry{
    "jacobi", "M = D^-1, the inverse diagonal of A", {true, true}, lay_out, make<double>, make<float>};

} // namespace furrow::jacobi_preconditioner
