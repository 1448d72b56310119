// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients line by line, as textbooks write them: one text for vectors in host memory and on a GPU. The
// matrix, -u'' on the points of a line, is built from compressed rows and copied back. What `furrow::solve` does for
// the same system takes fewer passes and does not wait for its scalars: docs/conjugate-gradients.md.
#include <furrow/furrow.hpp>

#include <cstdio>
#include <vector>

using furrow::index_t;

/// A x = b, x the first guess on entry; steps until |b - A x| <= bound, or `most` of them.
template <class Vector>
index_t conjugate_gradients(const furrow::any_operator<double>& a, const Vector& b, Vector& x, double bound,
                            index_t most) {
  Vector r(b.size()), q(b.size());
  furrow::residual<double>(a, b, x, r); // r = b - A x
  Vector p = r;
  double rr = furrow::dot<double>(r, r);
  index_t step = 0;
  for (; step < most && furrow::norm2<double>(r) > bound; ++step) {
    a.apply(1, p, 0, q); // q = A p
    const double alpha = rr / furrow::dot<double>(p, q);
    furrow::add<double>(x, alpha, p, x);  // x = x + alpha p
    furrow::add<double>(r, -alpha, q, r); // r = r - alpha q
    const double before = rr;
    rr = furrow::dot<double>(r, r);
    furrow::add<double>(r, rr / before, p, p); // p = r + beta p
  }
  return step;
}

template <class Vector> bool run(const furrow::device& where, const furrow::csr_arrays<double, int>& rows) {
  furrow::select_device(where);
  const furrow::matrix<double> a(rows, {.format = "csr", .where = where}); // a copy, on a GPU in its memory
  const index_t n = rows.shape.rows;
  const Vector ones(n, 1.0);
  Vector b(n), x(n, 0.0);
  a.op()->apply(1, ones, 0, b);
  const index_t steps = conjugate_gradients(*a.op(), b, x, 1e-10 * furrow::norm2<double>(b), 2 * n);

  furrow::add<double>(x, -1, ones, b); // the error
  const furrow::coo<double> back = a.to_triplets();
  std::printf("%s: %ld steps, error %.0e; %ld entries came back\n", where.is_gpu() ? "gpu" : "cpu",
              static_cast<long>(steps), furrow::norm2<double>(b), static_cast<long>(back.nnz()));
  return furrow::norm2<double>(b) < 1e-8 && back.nnz() == rows.val.size;
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
  const furrow::csr_arrays<double, int> rows{{n, n}, row_ptr, col, val};

  bool good = run<furrow::host_array<double>>({}, rows);
  if (!furrow::inspect_gpus().gpus.empty())
    good = run<furrow::gpu_array<double>>(furrow::parse_device("gpu"), rows) && good;
  return good ? 0 : 1;
} catch (const furrow::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
