// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"
#include "strength.hpp"

#include <functional>

namespace furrow::amg {

/// Inverses of the diagonal blocks, symmetric and row by row: block * block numbers a node. A block that is not
/// positive definite to rounding gives that of its diagonal instead. Every A[i,i] must be positive. Parallel.
host_array<double> inverse_diagonal(const node_matrix& m);

/// z <- D^-1 r for the nodes of rows [first, last).
template <class V>
FURROW_INLINE inline void times_inverse(const V* inverse, int block, index_t first, index_t last, const V* r, V* z) {
  if (block == 1) {
#pragma omp simd
    for (index_t i = 0; i < last - first; ++i) z[i] = inverse[first + i] * r[i];
    return;
  }
  for (index_t i = first; i < last; i += block)
    for (int k = 0; k < block; ++k) {
      V sum = 0;
      for (int l = 0; l < block; ++l) sum += inverse[(i + k) * block + l] * r[i - first + l];
      z[i - first + k] = sum;
    }
}

/// A number that no eigenvalue of D^-1 A passes but by rounding and luck: 2 of weakly dominant rows, by Gershgorin;
/// otherwise 1.1 times the largest Ritz value of a Lanczos run from a hashed vector, 10 to 30 steps, and never more
/// than Gershgorin says. The same bits for every number of threads.
double largest_eigenvalue(const node_matrix& m, const host_array<double>& inverse);

/// out <- (A x) of the rows [first, last).
using rows_times = std::function<void(index_t first, index_t last, cview<double> x, double* out)>;
/// The same for a matrix that is given by its product, and by the bound of Gershgorin.
double largest_eigenvalue(double gershgorin, const host_array<double>& inverse, int block, const rows_times& product);

/// The same bound, with what is needed to find the next one where A changes little.
struct top_of_spectrum {
  double gershgorin = 0, ritz = 0, bound = 1;
  host_array<float> direction; ///< D^(1/2) times the eigenvector of the Ritz value; empty where none was needed
};
/// As `largest_eigenvalue`, at the price of up to 30 vectors in single precision while it works.
top_of_spectrum find_top(double gershgorin, const host_array<double>& inverse, int block, const rows_times& product);
/// For other values of A: two steps of Lanczos from the vector before. Where Gershgorin's bound has risen or the Ritz
/// value has moved by more than a twentieth, that vector says too little, and the top is found anew.
void follow_top(top_of_spectrum& top, double gershgorin, const host_array<double>& inverse, int block,
                const rows_times& product);
/// The same of a matrix; a top that was never found is found.
void follow_top(top_of_spectrum& top, const node_matrix& m, const host_array<double>& inverse);

} // namespace furrow::amg
