// SPDX-License-Identifier: BSD-3-Clause
#include "diagonal.hpp"

#include "lanczos.hpp"

#include "backends/cpu/space.hpp"
#include "formats/csr/cpu_rows.hpp"
#include "generate/randomness.hpp"

#include <cmath>
#include <vector>

namespace furrow::amg {
namespace {

constexpr index_t grain = 1 << 12;

/// The inverse of a symmetric positive definite matrix of n rows, in place, by Gauss and Jordan; false where a pivot
/// is lost.
bool invert(double* a, int n) {
  std::vector<double> whole(a, a + static_cast<std::ptrdiff_t>(n) * n);
  for (int k = 0; k < n; ++k) {
    const double pivot = a[k * n + k];
    if (!(pivot > 1e-12 * whole[static_cast<std::size_t>(k) * n + k])) return false;
    a[k * n + k] = 1;
    for (int j = 0; j < n; ++j) a[k * n + j] /= pivot;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i * n + k];
      a[i * n + k] = 0;
      for (int j = 0; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return true;
}

void invert_node(const node_matrix& m, index_t node, double* out) {
  const int b = m.block;
  std::fill_n(out, b * b, 0.0);
  std::vector<double> own(static_cast<std::size_t>(b));
  for (int r = 0; r < b; ++r) {
    const index_t i = node * b + r;
    for (index_t k = m.a.begin(i); k < m.a.end(i); ++k)
      if (m.a.col[k] / b == node) out[r * b + m.a.col[k] % b] = m.a.val[k];
    own[r] = out[r * b + r];
  }
  for (int r = 0; r < b; ++r)
    for (int c = 0; c < r; ++c) out[r * b + c] = out[c * b + r] = (out[r * b + c] + out[c * b + r]) / 2;
  if (invert(out, b)) {
    for (int r = 0; r < b; ++r)
      for (int c = 0; c < r; ++c) out[r * b + c] = out[c * b + r];
    return;
  }
  std::fill_n(out, b * b, 0.0);
  for (int r = 0; r < b; ++r) out[r * b + r] = 1 / own[r];
}

/// max over rows of sum |(D^-1 A)_ij|, for D the plain diagonal; of blocks: the most blocks a row, for A <= (that) D.
double gershgorin(const node_matrix& m, const host_array<double>& inverse) {
  host_array<double> bound(m.nodes());
  cpu::for_each_range(m.nodes(), grain, [&](index_t first, index_t last) {
    std::vector<std::int32_t> seen;
    for (index_t i = first; i < last; ++i) {
      double sum = 0;
      seen.clear();
      for (index_t k = m.a.begin(i * m.block); k < m.a.begin((i + 1) * m.block); ++k)
        if (m.block == 1) sum += std::abs(m.a.val[k]);
        else seen.push_back(m.a.col[k] / m.block);
      std::sort(seen.begin(), seen.end());
      bound[i] = m.block == 1 ? sum * inverse[i] : double(std::unique(seen.begin(), seen.end()) - seen.begin());
    }
  });
  return bound.empty() ? 1 : *std::max_element(bound.begin(), bound.end());
}

/// The vectors of `largest_ritz_value`.
class lanczos {
public:
  lanczos(const rows_times& product, int block, const host_array<double>& inverse)
      : product_(product), block_(block), inverse_(inverse), n_(inverse.size() / block), v_(n_), u_(n_), w_(n_),
        old_u_(n_) {}

  double start() {
    const randomness hash(0);
    each([&](index_t i) {
      u_[i] = (unit(hash.at(i)) - 0.5) / std::sqrt(inverse_[i * block_ + i % block_]);
      old_u_[i] = 0;
    });
    solve(u_, v_);
    return dot(v_, u_);
  }
  double multiply(double factor) {
    each([&](index_t i) { v_[i] *= factor, u_[i] *= factor; });
    cpu::for_each_range(n_, grain,
                        [&](index_t first, index_t last) { product_(first, last, as_cview(v_), w_.data() + first); });
    return dot(v_, w_);
  }
  double advance(double a, double b) {
    each([&](index_t i) { old_u_[i] = w_[i] - a * u_[i] - b * old_u_[i]; });
    std::swap(u_, old_u_); // u = the next D v, old_u = this one
    solve(u_, v_);
    return dot(v_, u_);
  }

private:
  template <class F> void each(F f) {
    cpu::for_each_range(n_, grain, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  }
  double dot(const host_array<double>& x, const host_array<double>& y) {
    double sum = 0;
    space_.dot(as_cview(x), as_cview(y), slot{&sum});
    return sum;
  }
  void solve(const host_array<double>& r, host_array<double>& z) {
    cpu::for_each_range(n_ / block_, grain, [&](index_t first, index_t last) {
      const index_t from = first * block_;
      times_inverse(inverse_.data(), block_, from, last * block_, r.data() + from, z.data() + from);
    });
  }

  const rows_times& product_;
  int block_;
  const host_array<double>& inverse_;
  index_t n_;
  host_array<double> v_, u_, w_, old_u_;
  cpu::space<double> space_;
};

} // namespace

host_array<double> inverse_diagonal(const node_matrix& m) {
  host_array<double> inverse(m.a.shape.rows * m.block);
  cpu::for_each_range(m.nodes(), grain, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      double* const out = inverse.data() + i * m.block * m.block;
      if (m.block > 1) invert_node(m, i, out);
      else
        for (index_t k = m.a.begin(i); k < m.a.end(i); ++k)
          if (m.a.col[k] == i) *out = 1 / m.a.val[k];
    }
  });
  return inverse;
}

double largest_eigenvalue(double gershgorin, const host_array<double>& inverse, int block, const rows_times& product) {
  return bound_of_spectrum(gershgorin, lanczos(product, block, inverse));
}

double largest_eigenvalue(const node_matrix& m, const host_array<double>& inverse) {
  const csr<double, index_t, cview> a{m.a.shape, m.a.row_ptr, m.a.col, m.a.val};
  return largest_eigenvalue(gershgorin(m, inverse), inverse, m.block,
                            [&](index_t first, index_t last, cview<double> x, double* out) {
                              csr_rows::direct::sums(a, first, last, x, out);
                            });
}

} // namespace furrow::amg
