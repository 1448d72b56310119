// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_dense.hpp"

#include "dense.hpp"
#include "gpu_coarsening.hpp"

#include "backends/gpu/primitives.hpp"

#include <utility>

namespace furrow::amg {
namespace gpu_dense {

struct put_entries {
  device_view a;
  double* to;
  FURROW_HD void operator()(index_t i) const {
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) to[i * a.shape.rows + a.col[k]] = a.val[k];
  }
};
/// Step k of an inversion in place, but from one place to another.
struct eliminate {
  index_t n, k;
  const double* from;
  double *to, *pivot;
  FURROW_HD void operator()(index_t at) const {
    const index_t i = at / n, j = at - i * n;
    const double own = from[k * n + k], left = from[i * n + k], above = from[k * n + j];
    if (i == k) {
      to[at] = j == k ? 1 / own : above / own;
      if (j == k) pivot[k] = own;
    } else to[at] = j == k ? -left / own : from[at] - left * (above / own);
  }
};
struct symmetrize {
  index_t n;
  const double* from;
  double* to;
  FURROW_HD void operator()(index_t at) const {
    const index_t i = at / n, j = at - i * n;
    to[at] = (from[at] + from[j * n + i]) / 2;
  }
};

template <class T> host_array<T> brought_home(cview<T> v) {
  host_array<T> home(v.size);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, v.data, home.byte_count());
  return home;
}

/// Empty where a pivot is no more than rounding.
inline std::optional<gpu_array<double>> eliminated(const device_view& a) {
  constexpr double lost = 1e-13;
  const index_t n = a.shape.rows;
  gpu_array<double> t(n * n), next(n * n), pivot(n);
  gpu::fill_bytes(t, 0);
  gpu::for_each(n, put_entries{a, t.data()});
  for (index_t k = 0; k < n; ++k) {
    gpu::for_each(n * n, eliminate{n, k, t.data(), next.data(), pivot.data()});
    std::swap(t, next);
  }
  gpu::for_each(n * n, symmetrize{n, t.data(), next.data()});
  const host_array<double> found(pivot), own(diagonal_of(a));
  for (index_t k = 0; k < n; ++k)
    if (!(found[k] > lost * own[k] * double(n))) return std::nullopt;
  return next;
}

} // namespace gpu_dense

std::optional<gpu_array<double>> dense_inverse(const device_view& a) {
  using namespace gpu_dense;
  if (auto inverse = eliminated(a)) return inverse;
  const auto row_ptr = brought_home(a.row_ptr);
  const auto col = brought_home(a.col);
  const auto val = brought_home(a.val);
  const auto found = dense_inverse(row_view<double>{a.shape, as_cview(row_ptr), as_cview(col), as_cview(val)});
  return found ? std::optional(gpu_array<double>(*found)) : std::nullopt;
}

} // namespace furrow::amg
