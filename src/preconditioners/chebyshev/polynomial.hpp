// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/entry.hpp"
#include "solvers/pass.hpp"

#include <furrow/operator.hpp>

#include <string>
#include <utility>

namespace furrow::chebyshev_preconditioner {

inline constexpr double spread = 30; ///< the interval is [lambda / spread, lambda]

/// What the polynomial is made of.
template <class V> struct parts {
  std::unique_ptr<any_operator<V>> b; ///< S A S on the device
  host_array<V> scale;                ///< S
  index_t terms;
  double lambda;
  std::string about;
};

/// first, and keep and add of one term after the other: see `begin` and `extend`.
class recurrence {
public:
  explicit recurrence(double lambda)
      : middle_(lambda * (1 + 1 / spread) / 2), radius_(lambda * (1 - 1 / spread) / 2), rho_(radius_ / middle_) {}
  double first() const { return 1 / middle_; }
  struct term {
    double keep, add;
  };
  term next() {
    const double before = rho_;
    rho_ = 1 / (2 * middle_ / radius_ - before);
    return {rho_ * before, 2 * rho_ / radius_};
  }

private:
  double middle_, radius_, rho_;
};

/// What another one needs to know to apply it by itself.
template <class V> struct known_polynomial {
  virtual ~known_polynomial() = default;
  virtual index_t terms() const = 0;
  virtual double largest_eigenvalue() const = 0; ///< lambda
  virtual cview<V> scale() const = 0;            ///< S, on the device
};

/// z = d = first (rest = s r).
template <class V> struct begin {
  V first;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& z, V& d, V& rest, V s, V r, sums<0>) const {
    rest = s * r;
    z = d = first * rest;
  }
};

/// d = keep d + add rest; z += d.
template <class V> struct extend {
  V keep, add;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& z, V& d, V rest, sums<0>) const {
    d = keep * d + add * rest;
    z = z + d;
  }
};

/// z = s z.
struct scale_back {
  FURROW_HD void load() {}
  template <class V> FURROW_HD void operator()(V& z, V s, sums<0>) const { z = s * z; }
};

/// M = S p(B) S, B = S A S, S = |diag A|^-1/2, p the polynomial of degree K - 1 for which 1 - t p(t) is the Chebyshev
/// polynomial of [lambda / 30, lambda] with the value 1 at 0. It is below 1 on (0, lambda], so M is definite where A is
/// and lambda is no less than B's largest eigenvalue. An application is K - 1 products with B, in the format that
/// `auto` takes, and 5 K passes over vectors; it takes no memory. One application at a time. Y. Saad, Iterative Methods
/// for Sparse Linear Systems, 2nd ed., algorithm 12.1.
template <vector_space S>
class polynomial final : public any_preconditioner<value_of<S>>, public known_polynomial<value_of<S>> {
  using V = value_of<S>;
  using array = decltype(std::declval<S&>().make(0));

public:
  explicit polynomial(parts<V> p)
      : b_(std::move(p.b)), scale_(p.scale), terms_(p.terms), lambda_(p.lambda), about_(std::move(p.about)),
        step_(scale_.size()), rest_(scale_.size()) {}

  void apply(cview<V> r, view<V> z) const override {
    S space;
    const view<V> d = as_view(step_), rest = as_view(rest_);
    const auto s = in(as_cview(scale_));
    recurrence by(lambda_);
    space.sweep(z.size, pass(begin<V>{V(by.first())}, out(z), out(d), out(rest), s, in(r)));
    for (index_t k = 1; k < terms_; ++k) {
      const auto [keep, add] = by.next();
      b_->apply(V(-1), as_cview(step_), V(1), rest);
      space.sweep(z.size, pass(extend<V>{V(keep), V(add)}, both(z), both(d), in(rest)));
    }
    space.sweep(z.size, pass(scale_back{}, both(z), s));
  }
  double stored_bytes() const override { return b_->stored_bytes() + 3 * double(scale_.byte_count()); }
  std::string describe() const override { return about_; }
  index_t terms() const override { return terms_; }
  double largest_eigenvalue() const override { return lambda_; }
  cview<V> scale() const override { return as_cview(scale_); }

private:
  std::unique_ptr<any_operator<V>> b_;
  array scale_;
  index_t terms_;
  double lambda_;
  std::string about_;
  mutable array step_, rest_;
};

#if FURROW_HAS_GPU
template <class V> std::unique_ptr<any_preconditioner<V>> make_on_gpu(parts<V> p);
#else
template <class V> std::unique_ptr<any_preconditioner<V>> make_on_gpu(parts<V>) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

} // namespace furrow::chebyshev_preconditioner
