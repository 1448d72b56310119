// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients line by line, as textbooks and tutorials write them: one text for vectors in host memory and on a
// GPU. The matrix, -u'' on the points of a line, is built from compressed rows and copied back. Then the same method
// with its scalars beside the vectors, which waits once in ten steps in place of three times in each. What
// `furrow::solve` does for the same system takes fewer passes, too: docs/conjugate-gradients.md.
#include <furrow/csr.hpp>
#include <furrow/spaces.hpp>

#include <cstdio>
#include <utility>
#include <vector>

using furrow::index_t;

/// A x = b, x the first guess on entry; steps until |b - A x| <= bound, or `most` of them.
template <class Space>
index_t conjugate_gradients(Space& s, const typename Space::csr& a, const typename Space::array& b,
                            typename Space::array& x, double bound, index_t most) {
  auto r = s.make(b.size()), q = s.make(b.size());
  s.residual(a, b, x, r); // r = b - A x
  auto p = r;
  double rr = s.dot(r, r);
  index_t step = 0;
  for (; step < most && s.norm2(r) > bound; ++step) {
    a.apply(1, p, 0, q); // q = A p
    const double alpha = rr / s.dot(p, q);
    s.add(x, alpha, p, x);  // x = x + alpha p
    s.add(r, -alpha, q, r); // r = r - alpha q
    const double before = rr;
    rr = s.dot(r, r);
    s.add(r, rr / before, p, p); // p = r + beta p
  }
  return step;
}

/// The same, alpha and beta worked out where the vectors are: on a GPU the host only enqueues, and looks at r'r after
/// every tenth step.
template <class Space>
index_t without_waiting(Space& s, const typename Space::csr& a, const typename Space::array& b,
                        typename Space::array& x, double bound, index_t most) {
  auto r = s.make(b.size()), q = s.make(b.size());
  auto numbers = s.make_slots(3);
  furrow::slot rr = s.at(numbers, 0), before = s.at(numbers, 1), pq = s.at(numbers, 2);
  s.residual(a, b, x, r);
  auto p = r;
  s.dot(r, r, rr);
  index_t step = 0;
  for (; step < most && (step % 10 != 0 || s.read(rr) > bound * bound); ++step) {
    a.apply_dot(p, q, pq);        // q = A p and p'q in one pass
    s.add(x, {rr, pq}, p, x);     // x = x + rr / pq p
    s.add(r, {rr, pq, -1}, q, r); // r = r - rr / pq q
    std::swap(rr, before);        // of the two slots
    s.dot(r, r, rr);              // r'r
    s.add(r, {rr, before}, p, p); // p = r + rr / before p
  }
  return step;
}

template <class Space>
bool run(Space s, int n, const std::vector<int>& row_ptr, const std::vector<int>& col, const std::vector<double>& val) {
  const typename Space::csr a({n, n}, row_ptr, col, val); // copies of the arrays, on a GPU in its memory
  const auto ones = s.make(n, 1.0);
  auto b = s.make(n), x = s.make(n, 0.0), y = x;
  a.apply(1, ones, 0, b);
  const double bound = 1e-10 * s.norm2(b);
  const index_t steps = conjugate_gradients(s, a, b, x, bound, 2 * n);
  const index_t steps_without = without_waiting(s, a, b, y, bound, 2 * n);

  s.add(x, -1, ones, x); // the errors
  s.add(y, -1, ones, y);
  const furrow::host_csr<double> back(a);
  std::printf("%s: %ld steps, error %.0e; without waiting %ld, error %.0e; %ld entries came back\n",
              s.where().is_gpu() ? "gpu" : "cpu", static_cast<long>(steps), s.norm2(x),
              static_cast<long>(steps_without), s.norm2(y), static_cast<long>(back.nnz()));
  return s.norm2(x) < 1e-8 && s.norm2(y) < 1e-8 && back.col()[1] == 1 && back.val()[1] == -1;
}

int main() try {
  const int n = 100;
  std::vector<int> row_ptr{0}, col;
  std::vector<double> val;
  for (int i = 0; i < n; ++i) {
    for (const int j : {i - 1, i, i + 1})
      if (j >= 0 && j < n) col.push_back(j), val.push_back(i == j ? 2 : -1);
    row_ptr.push_back(static_cast<int>(col.size()));
  }
  bool good = run(furrow::host_space<double>(), n, row_ptr, col, val);
  if (!furrow::inspect_gpus().gpus.empty()) good = run(furrow::gpu_space<double>(), n, row_ptr, col, val) && good;
  return good ? 0 : 1;
} catch (const furrow::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
