// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gemv_request.hpp"

#include "backends/cpu/parallel.hpp"
#include "generate/randomness.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::cli {

/// A with elements in [-1, 1) as it lies in memory, x with elements in [0.5, 1.5).
template <class T> struct gemv_operands {
  using V = vector_value<T>;

  bool transposed, by_rows;
  index_t rows, cols, terms, outputs, vectors;
  host_array<T> a;
  host_array<V> x; ///< of all vectors, one after the other

  explicit gemv_operands(const gemv_request& q)
      : transposed(q.op == "t"), by_rows(q.layout == "row"), rows(q.shape.rows), cols(q.shape.cols),
        terms(transposed ? rows : cols), outputs(transposed ? cols : rows), vectors(q.vectors), a(rows * cols),
        x(terms * vectors) {
    const randomness random(1);
    cpu::for_each_range(a.size(), 1 << 14, [&](index_t first, index_t last) {
      for (index_t k = first; k < last; ++k) a[k] = T(static_cast<V>(2 * unit(random.at(k)) - 1));
    });
    for (index_t k = 0; k < x.size(); ++k) x[k] = static_cast<V>(0.5 + unit(random.at(k, 1)));
  }

  double bytes() const {
    return double(sizeof(T)) * double(a.size()) + double(sizeof(V)) * double(vectors * (terms + outputs));
  }

  /// Whether the sums run along the lines of memory: row-major A x, column-major A' x.
  bool along() const { return by_rows != transposed; }

  /// What is off most in y, in units of (terms + 2) u sum|a_ij x_j|, by a reference in long double. Parallel.
  double row_error(cview<V> y) const {
    const index_t parts = cpu::thread_count();
    std::vector<double> worst(static_cast<std::size_t>(parts), 0.0);
    cpu::for_each_task(parts, [&](index_t part) {
      double& mine = worst[static_cast<std::size_t>(part)];
      for (index_t k = cpu::part_begin(y.size, parts, part); k < cpu::part_begin(y.size, parts, part + 1); ++k)
        mine = std::max(mine, error_of(k, y[k]));
    });
    return std::ranges::max(worst);
  }

private:
  double error_of(index_t k, V got) const {
    const index_t i = k % outputs;
    const V* const from = x.data() + k / outputs * terms;
    long double sum = 0, size = 0;
    for (index_t t = 0; t < terms; ++t) {
      const index_t row = transposed ? t : i, col = transposed ? i : t;
      const auto product = static_cast<long double>(V(a[by_rows ? row * cols + col : row + col * rows])) * from[t];
      sum += product;
      size += std::fabs(product);
    }
    const double u = std::numeric_limits<V>::epsilon() / 2;
    const auto off = static_cast<double>(std::fabs(got - sum));
    const double error = off == 0 ? 0 : off / (double(terms + 2) * u * static_cast<double>(size));
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
};

} // namespace furrow::cli
