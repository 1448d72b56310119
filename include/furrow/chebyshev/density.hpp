// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/operator.hpp>

namespace furrow::chebyshev {

/// How eigenvalues are spread, from moments tr T_k(A) / n: the kernel polynomial method with Jackson's kernel. Features
/// narrower than about pi half-widths / moments are smeared out.
/// A. Weisse, G. Wellein, A. Alvermann, H. Fehske, The kernel polynomial method, Rev. Mod. Phys. 78, 2006.
struct spectral_density {
  interval on;
  index_t rows = 0;
  host_array<double> moments; ///< moments[0] == 1

  /// Eigenvalues per unit at `lambda`; 0 outside of the interval and at its ends. NaN at NaN.
  double at(double lambda) const;
  /// Eigenvalues below `lambda`; NaN below NaN.
  double count_below(double lambda) const;
};

struct density_options {
  index_t moments = 512, vectors = 8;
  std::uint64_t seed = 1;
};

/// Moments by random vectors of 1 and -1, the same ones everywhere. Two moments a product, with the dots of a pass over
/// two vectors (three where the operator is not centred); waits once a vector. The relative error of a moment is about
/// sqrt(2 / (vectors n)). `on` must hold the spectrum.
/// Throws `fault::usage` for counts below 1 and beyond `longest_series`.
template <class V>
spectral_density density(const symmetric_operator<V>& a, interval on, const density_options& options = {});

} // namespace furrow::chebyshev
