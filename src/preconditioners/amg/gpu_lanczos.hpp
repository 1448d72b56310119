// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "independent_set.hpp"
#include "lanczos.hpp"
#include "row_pass.hpp"

#include "backends/gpu/primitives.hpp"
#include "backends/gpu/space.hpp"

#include <utility>

namespace furrow::amg {

namespace lanczos_step {

struct random_start {
  const double* inverse;
  double *u, *v;
  FURROW_HD void operator()(index_t i) const {
    u[i] = (unit(randomness(0).at(i)) - 0.5) / sqrt(inverse[i]);
    v[i] = inverse[i] * u[i];
  }
};
struct scale_both {
  double factor;
  double *u, *v;
  FURROW_HD void operator()(index_t i) const {
    v[i] *= factor;
    u[i] *= factor;
  }
};
struct next_vectors {
  double a, b;
  const double *inverse, *w, *u;
  double *old_u, *v;
  FURROW_HD void operator()(index_t i) const {
    old_u[i] = w[i] - a * u[i] - b * old_u[i];
    v[i] = inverse[i] * old_u[i];
  }
};
struct keep_product {
  static constexpr bool smooths = false;
  double* w;
  FURROW_HD void operator()(index_t i, double sum) const { w[i] = sum; }
};

} // namespace lanczos_step

/// The vectors of `run_lanczos` for D^-1 A on the current GPU. product(x, step): a row pass of A x.
template <class Product> class gpu_lanczos {
public:
  gpu_lanczos(const gpu_array<double>& inverse, Product product)
      : inverse_(inverse), product_(std::move(product)), n_(inverse.size()), v_(n_), u_(n_), w_(n_), old_u_(n_),
        sum_(1) {
    gpu::fill_bytes(old_u_, 0);
  }

  double start() {
    gpu::for_each(n_, lanczos_step::random_start{inverse_.data(), u_.data(), v_.data()});
    return dot(v_, u_);
  }
  double multiply(double factor) {
    gpu::for_each(n_, lanczos_step::scale_both{factor, u_.data(), v_.data()});
    product_(as_cview(v_), lanczos_step::keep_product{w_.data()});
    return dot(v_, w_);
  }
  double advance(double a, double b) {
    gpu::for_each(n_,
                  lanczos_step::next_vectors{a, b, inverse_.data(), w_.data(), u_.data(), old_u_.data(), v_.data()});
    std::swap(u_, old_u_);
    return dot(v_, u_);
  }

private:
  double dot(const gpu_array<double>& x, const gpu_array<double>& y) {
    space_.dot(as_cview(x), as_cview(y), slot{sum_.data()});
    return space_.read(slot{sum_.data()});
  }

  const gpu_array<double>& inverse_;
  Product product_;
  index_t n_;
  gpu_array<double> v_, u_, w_, old_u_, sum_;
  gpu::space<double> space_;
};

} // namespace furrow::amg
