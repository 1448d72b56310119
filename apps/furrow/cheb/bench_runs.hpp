// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "options.hpp"

#include <furrow/chebyshev/product.hpp>

namespace furrow::cli::cheb_command {

/// The experiment of the source: 10000 coefficients of 0.1 and of 0.2, as many kept. Its times are of that length.
inline constexpr index_t document_size = 10000;
inline constexpr double document_a = 0.1, document_b = 0.2;

/// What is known: coefficient k of the product of constant series.
double constant_product(chebyshev::convention series, index_t n, index_t k);

/// Two series of n constant coefficients.
struct product_run {
  index_t n = 0, keep = 0;
  chebyshev::convention series = chebyshev::convention::primed;
  chebyshev::algorithm how = chebyshev::algorithm::direct;
  double seconds = 0, bare = 0; ///< bare: the two transforms that it needs, and nothing else
  double first = 0, second = 0, error = 0;
};
product_run measure_product(precision p, index_t n, index_t keep, chebyshev::convention series,
                            chebyshev::algorithm how, device where);

/// Many short products at once, and one after the other, each from a plan made before.
struct batch_run {
  index_t n = 256, count = 1000;
  chebyshev::algorithm how = chebyshev::algorithm::automatic;
  double together = 0, one_by_one = 0;
};
batch_run measure_batch(precision p, device where);

} // namespace furrow::cli::cheb_command
