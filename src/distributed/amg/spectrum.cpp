// SPDX-License-Identifier: BSD-3-Clause
#include "spectrum.hpp"

#include "coarsening.hpp"

#include "backends/cpu/space.hpp"
#include "distributed/halo.hpp"
#include "distributed/together.hpp"
#include "formats/csr/cpu_rows.hpp"
#include "generate/randomness.hpp"
#include "preconditioners/amg/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::amg {
namespace {

constexpr index_t grain = 1 << 12;

/// The vectors of `run_lanczos` on a rank: its rows, v with the elements of others behind its own.
class lanczos_on_ranks {
public:
  lanczos_on_ranks(communicator& c, const rows_of_rank<double>& a, const host_array<double>& inverse)
      : c_(c), first_(a.first), n_(a.own.shape.rows), inverse_(inverse), halo_(c, a.plan), a_(joined(a)),
        v_(a_.shape.cols, 0.0), u_(n_), w_(n_), old_u_(n_, 0.0) {}

  double start() {
    const randomness hash(0);
    each([&](index_t i) {
      u_[i] = (unit(hash.at(first_ + i)) - 0.5) / std::sqrt(inverse_[i]);
      v_[i] = inverse_[i] * u_[i];
    });
    return dot(own(), as_cview(u_));
  }
  double multiply(double factor) {
    each([&](index_t i) { v_[i] *= factor, u_[i] *= factor; });
    halo_.start(own());
    std::ranges::copy(halo_.finish(), v_.data() + n_);
    const csr<double, index_t, cview> a{a_.shape, as_cview(a_.row_ptr), as_cview(a_.col), as_cview(a_.val)};
    cpu::for_each_range(n_, grain, [&](index_t first, index_t last) {
      csr_rows::direct::sums(a, first, last, as_cview(v_), w_.data() + first);
    });
    return dot(own(), as_cview(w_));
  }
  double advance(double a, double b) {
    each([&](index_t i) {
      old_u_[i] = w_[i] - a * u_[i] - b * old_u_[i];
      v_[i] = inverse_[i] * old_u_[i];
    });
    std::swap(u_, old_u_);
    return dot(own(), as_cview(u_));
  }

private:
  cview<double> own() const { return {v_.data(), n_}; }
  template <class F> void each(F f) {
    cpu::for_each_range(n_, grain, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  }
  double dot(cview<double> x, cview<double> y) {
    double sum = 0;
    if (n_ > 0) space_.dot(x, y, slot{&sum});
    return c_.sum(sum);
  }

  communicator& c_;
  index_t first_, n_;
  const host_array<double>& inverse_;
  halo<double> halo_;
  row_matrix<double> a_;
  host_array<double> v_, u_, w_, old_u_;
  cpu::space<double> space_;
};

double gershgorin(const rows_of_rank<double>& a, const host_array<double>& inverse) {
  host_array<double> sum(a.own.shape.rows, 0.0);
  for (index_t k = 0; k < a.own.nnz(); ++k) sum[a.own.row[k]] += std::abs(a.own.val[k]);
  for (index_t k = 0; k < a.far.nnz(); ++k) sum[a.far_rows[a.far.row[k]]] += std::abs(a.far.val[k]);
  double most = 1;
  for (index_t i = 0; i < sum.size(); ++i) most = std::max(most, sum[i] * inverse[i]);
  return most;
}

} // namespace

double largest_eigenvalue_on_ranks(communicator& c, const rows_of_rank<double>& a, const host_array<double>& inverse) {
  const double most = c.max(gershgorin(a, inverse));
  if (most <= dominant_rows) return most;
  return bound_of_spectrum(most, lanczos_on_ranks(c, a, inverse));
}

} // namespace furrow::amg
