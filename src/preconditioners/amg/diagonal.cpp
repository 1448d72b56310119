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

constexpr index_t diagonal_grain = 1 << 12;

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

/// How many nodes the rows of a node couple it to. Columns ascend, and mostly the rows of a node have the same ones:
/// then what the first of them says is gone through side by side with the others, and nothing is sorted.
index_t blocks_of_node(const node_matrix& m, index_t node, std::vector<std::int32_t>& seen) {
  seen.clear();
  bool sorted = true;
  for (int r = 0; r < m.block; ++r) {
    const auto known = static_cast<std::ptrdiff_t>(seen.size());
    std::ptrdiff_t at = 0;
    std::int32_t last = -1;
    for (index_t k = m.a.begin(node * m.block + r); k < m.a.end(node * m.block + r); ++k) {
      if (last >= 0 && m.a.col[k] - last * m.block < m.block) continue;
      last = m.a.col[k] / m.block;
      while (at < known && seen[at] < last) ++at;
      if (at < known && seen[at] == last) continue;
      seen.push_back(last);
      sorted = sorted && r == 0;
    }
  }
  if (sorted) return static_cast<index_t>(seen.size());
  std::sort(seen.begin(), seen.end());
  return std::unique(seen.begin(), seen.end()) - seen.begin();
}

/// max over rows of sum |(D^-1 A)_ij|, for D the plain diagonal; of blocks: the most blocks a row, for A <= (that) D.
double gershgorin(const node_matrix& m, const host_array<double>& inverse) {
  host_array<double> bound(m.nodes());
  cpu::for_each_range(m.nodes(), diagonal_grain, [&](index_t first, index_t last) {
    std::vector<std::int32_t> seen;
    for (index_t i = first; i < last; ++i) {
      if (m.block > 1) {
        bound[i] = double(blocks_of_node(m, i, seen));
        continue;
      }
      double sum = 0;
      for (index_t k = m.a.begin(i); k < m.a.end(i); ++k) sum += std::abs(m.a.val[k]);
      bound[i] = sum * inverse[i];
    }
  });
  return bound.empty() ? 1 : *std::max_element(bound.begin(), bound.end());
}

/// The vectors of `run_lanczos`.
class lanczos {
public:
  lanczos(const rows_times& product, int block, const host_array<double>& inverse)
      : product_(product), block_(block), inverse_(inverse), n_(inverse.size() / block), v_(n_), u_(n_), w_(n_),
        old_u_(n_) {}

  double start() {
    const randomness hash(0);
    return start([&](index_t i) { return unit(hash.at(i)) - 0.5; });
  }
  /// From a vector times D^(1/2), or nearly that where nodes have several unknowns.
  template <class F> double start(F f) {
    each([&](index_t i) {
      u_[i] = f(i) / std::sqrt(own_inverse(i));
      old_u_[i] = 0;
    });
    solve(u_, v_);
    return dot(v_, u_);
  }
  double multiply(double factor) {
    each([&](index_t i) { v_[i] *= factor, u_[i] *= factor; });
    cpu::for_each_range(n_, diagonal_grain,
                        [&](index_t first, index_t last) { product_(first, last, as_cview(v_), w_.data() + first); });
    return dot(v_, w_);
  }
  double advance(double a, double b) {
    each([&](index_t i) { old_u_[i] = w_[i] - a * u_[i] - b * old_u_[i]; });
    std::swap(u_, old_u_); // u = the next D v, old_u = this one
    solve(u_, v_);
    return dot(v_, u_);
  }
  index_t size() const { return n_; }
  /// Element i of this vector and of the one before, times D^(1/2).
  double element(index_t i) const { return u_[i] * std::sqrt(own_inverse(i)); }
  double element_before(index_t i) const { return old_u_[i] * std::sqrt(own_inverse(i)); }

private:
  double own_inverse(index_t i) const { return inverse_[i * block_ + i % block_]; }
  template <class F> void each(F f) {
    cpu::for_each_range(n_, diagonal_grain, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  }
  double dot(const host_array<double>& x, const host_array<double>& y) {
    double sum = 0;
    space_.dot(as_cview(x), as_cview(y), slot{&sum});
    return sum;
  }
  void solve(const host_array<double>& r, host_array<double>& z) {
    cpu::for_each_range(n_ / block_, diagonal_grain, [&](index_t first, index_t last) {
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

/// f(i) for each i of an array, in single precision.
template <class F> host_array<float> filled(index_t n, F f) {
  host_array<float> x(n);
  cpu::for_each_range(n, diagonal_grain, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) x[i] = static_cast<float>(f(i));
  });
  return x;
}

/// Keeps its vectors.
class recording_lanczos {
public:
  explicit recording_lanczos(lanczos& l) : l_(l) {}
  double start() { return l_.start(); }
  double multiply(double factor) {
    const double a = l_.multiply(factor);
    basis_.push_back(filled(l_.size(), [&](index_t i) { return l_.element(i); }));
    return a;
  }
  double advance(double a, double b) { return l_.advance(a, b); }
  host_array<float> combined(const std::vector<double>& weight) const {
    return filled(l_.size(), [&](index_t i) {
      double sum = 0;
      for (std::size_t k = 0; k < weight.size(); ++k) sum += weight[k] * double(basis_[k][i]);
      return sum;
    });
  }

private:
  lanczos& l_;
  std::vector<host_array<float>> basis_;
};

/// Two steps from the direction of the top.
void two_steps(top_of_spectrum& top, lanczos l) {
  const double norm = std::sqrt(l.start([&](index_t i) { return double(top.direction[i]); }));
  top.ritz = 0;
  if (!(norm > 0) || !std::isfinite(norm)) return;
  std::vector<double> alpha{l.multiply(1 / norm)}, beta;
  const double squares = l.advance(alpha[0], 0), next = squares > 0 ? std::sqrt(squares) : 0;
  if (next > 1e-10 * alpha[0]) {
    beta.push_back(next);
    alpha.push_back(l.multiply(1 / next));
  }
  top.ritz = largest_of(alpha, beta);
  if (beta.empty()) return; // it is an eigenvector
  const auto weight = vector_of_largest(alpha, beta, top.ritz);
  top.direction =
      filled(l.size(), [&](index_t i) { return weight[0] * l.element_before(i) + weight[1] * l.element(i); });
}

} // namespace

host_array<double> inverse_diagonal(const node_matrix& m) {
  host_array<double> inverse(m.a.shape.rows * m.block);
  cpu::for_each_range(m.nodes(), diagonal_grain, [&](index_t first, index_t last) {
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

top_of_spectrum find_top(double gershgorin, const host_array<double>& inverse, int block, const rows_times& product) {
  top_of_spectrum top{gershgorin, 0, gershgorin, {}};
  if (gershgorin <= dominant_rows) return top;
  lanczos l(product, block, inverse);
  recording_lanczos recording(l);
  const ritz_run run = run_lanczos(recording);
  if (run.alpha.empty()) return top;
  top.ritz = run.value, top.bound = bound_by(gershgorin, run.value);
  top.direction = recording.combined(vector_of_largest(run.alpha, run.beta, run.value));
  return top;
}

void follow_top(top_of_spectrum& top, double gershgorin, const host_array<double>& inverse, int block,
                const rows_times& product) {
  constexpr double moved = 0.05;
  if (gershgorin <= dominant_rows) { // the vector stays, for those to come
    top.bound = gershgorin;
    return;
  }
  const double before = top.ritz;
  if (!top.direction.empty() && gershgorin <= (1 + moved) * top.gershgorin) {
    two_steps(top, lanczos(product, block, inverse));
    if (std::abs(top.ritz - before) <= moved * before) {
      top.gershgorin = gershgorin, top.bound = bound_by(gershgorin, top.ritz);
      return;
    }
  }
  top = find_top(gershgorin, inverse, block, product);
}

namespace {

rows_times product_with(const node_matrix& m) {
  return [a = csr<double, index_t, cview>{m.a.shape, m.a.row_ptr, m.a.col, m.a.val}](index_t first, index_t last,
                                                                                     cview<double> x, double* out) {
    csr_rows::direct::sums(a, first, last, x, out);
  };
}

} // namespace

double largest_eigenvalue(const node_matrix& m, const host_array<double>& inverse) {
  return largest_eigenvalue(gershgorin(m, inverse), inverse, m.block, product_with(m));
}

void follow_top(top_of_spectrum& top, const node_matrix& m, const host_array<double>& inverse) {
  const bool known = m.block > 1 && top.gershgorin > 0; // a number of blocks, which values do not change
  follow_top(top, known ? top.gershgorin : gershgorin(m, inverse), inverse, m.block, product_with(m));
}

} // namespace furrow::amg
