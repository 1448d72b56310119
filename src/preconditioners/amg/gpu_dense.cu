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
/// Pivots of a launch, and the edge of what a block of threads makes.
constexpr int pivots = 16, edge = 32, threads = pivots * pivots;

/// The rows and columns `first` to first + pivots - 1 of an inversion in place, but from one place to another: with B
/// the inverse of what lies in both, B A_Pj in the rows, -A_iP B in the columns, and A_ij - A_iP B A_Pj elsewhere.
/// Every block makes B for itself, which is cheaper than a launch a pivot (16 of them take 4 us each).
__global__ void __launch_bounds__(threads)
    eliminate_kernel(index_t n, index_t first, const double* from, double* to, double* pivot) {
  __shared__ double b[pivots][pivots + 1], left[edge][pivots + 1], above[pivots][edge + 1], made[pivots][edge + 1];
  const int thread = static_cast<int>(threadIdx.x), r = thread / pivots, c = thread % pivots;
  const index_t tiles = (n + edge - 1) / edge, row = blockIdx.x / tiles * edge, col = blockIdx.x % tiles * edge;
  const auto at = [&](index_t i, index_t j) { return i < n && j < n ? from[i * n + j] : 0; };
  gpu::take_turn();
  b[r][c] = first + r < n && first + c < n ? at(first + r, first + c) : double(r == c);
  for (int k = thread; k < edge * pivots; k += threads) {
    left[k / pivots][k % pivots] = at(row + k / pivots, first + k % pivots);
    above[k / edge][k % edge] = at(first + k / edge, col + k % edge);
  }
  for (int k = 0; k < pivots; ++k) {
    __syncthreads();
    const double own = b[k][k], beside = b[r][k], over = b[k][c], here = b[r][c];
    __syncthreads();
    b[r][c] = r == k ? (c == k ? 1 / own : over / own) : c == k ? -beside / own : here - beside * (over / own);
    if (blockIdx.x == 0 && r == k && c == k && first + k < n) pivot[first + k] = own;
  }
  __syncthreads();
  for (int k = thread; k < pivots * edge; k += threads) {
    const int p = k / edge, j = k % edge;
    const index_t q = col + j - first; // a column of B?
    double sum = 0;
    if (q >= 0 && q < pivots) sum = b[p][q];
    else
      for (int l = 0; l < pivots; ++l) sum += b[p][l] * above[l][j];
    made[p][j] = sum;
  }
  __syncthreads();
  for (int k = thread; k < edge * edge; k += threads) {
    const int i = k / edge, j = k % edge;
    const index_t p = row + i - first, q = col + j - first;
    if (row + i >= n || col + j >= n) continue;
    double sum = q >= 0 && q < pivots ? 0 : from[(row + i) * n + col + j];
    if (p >= 0 && p < pivots) sum = made[p][j];
    else
      for (int l = 0; l < pivots; ++l) sum -= left[i][l] * made[l][j];
    to[(row + i) * n + col + j] = sum;
  }
}
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
  const index_t tiles = (n + edge - 1) / edge;
  for (index_t first = 0; first < n; first += pivots) {
    gpu::launch(eliminate_kernel, static_cast<unsigned>(tiles * tiles), threads, 0, gpu::current_queue(), n, first,
                static_cast<const double*>(t.data()), next.data(), pivot.data());
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
