// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/furrow.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

/// What the multigrid rivals of bench/multigrid.py have in common: A by rows, b = A * ones, and one line of JSON.
namespace furrow::bench {

/// A by rows with columns and places of type I.
template <class I> struct system_by_rows {
  I rows = 0;
  std::vector<I> row_ptr, col;
  std::vector<double> val, b;

  explicit system_by_rows(const char* name) {
    const problem p = load(name);
    rows = static_cast<I>(p.a.shape.rows);
    row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
    b.assign(static_cast<std::size_t>(rows), 0.0);
    col.assign(p.a.col.begin(), p.a.col.end());
    val.assign(p.a.val.begin(), p.a.val.end());
    for (index_t k = 0; k < p.a.nnz(); ++k) {
      ++row_ptr[static_cast<std::size_t>(p.a.row[k]) + 1];
      b[static_cast<std::size_t>(p.a.row[k])] += p.a.val[k];
    }
    for (std::size_t i = 0; i < b.size(); ++i) row_ptr[i + 1] += row_ptr[i];
  }
  /// |b - A x| / |b|.
  double residual_of(const std::vector<double>& x) const {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      double r = b[i];
      for (I k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
        r -= val[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(col[static_cast<std::size_t>(k)])];
      off += r * r, all += b[i] * b[i];
    }
    return std::sqrt(off / all);
  }
};

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct measured {
  double setup, solve, residual;
  long iterations;
};
/// The iteration of a rival stops by its own estimate, which the residual may pass by a little.
inline void print(const measured& m, double rtol) {
  std::printf("{\"status\": \"%s\", \"iterations\": %ld, \"setup\": %.6f, \"solve\": %.6f, \"residual\": %.3e}\n",
              m.residual <= 1.1 * rtol ? "converged" : "not solved", m.iterations, m.setup, m.solve, m.residual);
}

} // namespace furrow::bench
