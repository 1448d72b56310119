// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of the bidiagonalisation, and its numbers.
namespace furrow::bidiagonal_steps {

enum slot_name : int {
  alpha = control::own_slot, ///< |v| as it is kept, and of the last one while the next is made
  beta,                      ///< |u|
  new_beta,
  uu, ///< |u|^2, the next one
  gg, ///< what the damping adds
  vv, ///< |v|^2, the next one
  qq, ///< |A M v|^2, as kept
  ww, ///< |M v|^2, as kept
  tt, ///< |A'r|^2 and |x|^2, worked out anew
  xx,
  normal,          ///< |M'A'r| by the recurrence
  largest_product, ///< of |A w|^2 / |w|^2 so far: bounds |A|^2 from below
  largest_scaled,  ///< the same of A M and v
  above,           ///< the entry of R above its next diagonal one
  largest_square,  ///< of |x'R| for a unit vector x that makes it large, and the last element of x
  largest_end,
  least_square, ///< the same for one that makes it small
  least_end,
  condition, ///< of A M, from below
  own_slot
};

enum verdict : int { normal_to_range = control::own_verdict };

FURROW_HD inline double over(double a, double b) { return b != 0 ? a / b : 0; }

/// A rotation that takes (a, b) to (r, 0).
struct rotation {
  double c = 1, s = 0, r = 0;
  FURROW_HD rotation(double a, double b) : r(hypot(a, b)) {
    if (r == 0) return;
    c = a / r;
    s = b / r;
  }
};

/// Two slots of given values.
struct set {
  slot to[2];
  double value[2];
  FURROW_HD void operator()() const {
    *to[0].at = value[0];
    *to[1].at = value[1];
  }
};
/// Of the residual at hand.
struct set_beta {
  double* s;
  FURROW_HD void operator()() const { s[beta] = sqrt(s[control::rr] + s[gg]); }
};
struct set_new_beta {
  double* s;
  FURROW_HD void operator()() const { s[new_beta] = sqrt(s[uu] + s[gg]); }
};

/// What a method does before its first rotation.
FURROW_HD inline void begin_norms(double* s) {
  s[alpha] = sqrt(s[vv]);
  s[normal] = s[alpha] * s[beta];
  s[largest_square] = 0;
}
/// alpha and beta become those of the new u and v; what is known of |A| grows.
FURROW_HD inline void advance_norms(double* s) {
  const double product = over(s[qq], s[ww]), scaled = s[alpha] * s[alpha] + s[new_beta] * s[new_beta];
  if (product > s[largest_product]) s[largest_product] = product;
  if (scaled > s[largest_scaled]) s[largest_scaled] = scaled;
  s[beta] = s[new_beta];
  s[alpha] = sqrt(s[vv]);
}
/// The unit vector (s x, c) that makes |(s x, c)'R| large or small where R has one column more, (coupling, rho).
FURROW_HD inline void extend(double& square, double& end, double coupling, double rho, bool least) {
  const double mixed = coupling * end, p = square + mixed * mixed, q = rho * rho, o = mixed * rho;
  const double most = (p + q) / 2 + hypot((p - q) / 2, o), value = least ? square * over(q, most) : most;
  const double upper = value - q, lower = value - p; // (upper, o) and (o, lower) are along (s, c)
  const bool first = fabs(upper) > fabs(lower);
  const double size = hypot(first ? upper : lower, o);
  end = size > 0 ? (first ? o : lower) / size : 1;
  square = value;
}
/// A column more of R, where B = Q R: what is known of its condition grows (C. H. Bischof, Incremental condition
/// estimation, 1990).
FURROW_HD inline void extend_triangle(double* s, double rho, double next_theta) {
  if (s[largest_square] == 0) {
    s[largest_square] = s[least_square] = rho * rho;
    s[largest_end] = s[least_end] = 1;
  } else {
    extend(s[largest_square], s[largest_end], s[above], rho, false);
    extend(s[least_square], s[least_end], s[above], rho, true);
  }
  s[above] = next_theta;
  const double now = sqrt(over(s[largest_square], s[least_square]));
  if (now > s[condition]) s[condition] = now;
}

/// What r may still have in the range of A beside itself, where it is called normal to that.
inline constexpr double little_of_range = 0.01;

/// Says where the recurrence believes r to be normal to the range of A: |M'A'r| at most `depth` |A M| |r|, and so small
/// that what r still has in the range, the condition number times that, is a hundredth of it. The depth is that
/// of rounding, whatever the goal of the recomputed |A'r|: where singular values are small, |A'r| is small before r is.
struct judge {
  double* s;
  double depth;

  FURROW_HD int before() const {
    return isfinite(s[uu]) && isfinite(s[vv]) && isfinite(s[qq]) ? control::running : control::not_finite;
  }
  FURROW_HD int after() const {
    const double size = sqrt(s[largest_scaled] * s[control::rr]);
    const bool small = s[normal] <= depth * size && s[normal] * s[condition] <= little_of_range * size;
    return small ? int(normal_to_range) : int(control::running);
  }
};

/// g = -d x, the damped part of the residual; sums g.g.
template <class V> struct begin_damped {
  double minus;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& g, V x, sums<1> sum) const {
    g = V(minus) * x;
    sum[0] += double(g) * double(g);
  }
};

/// u = q / alpha - (alpha / beta) u; sums u.u, q.q.
template <class V> struct next_u {
  scalar alpha, beta;
  double along = 0, back = 0;
  next_u(slot alpha, slot beta) : alpha(alpha), beta(beta) {}
  FURROW_HD void load() {
    alpha.load();
    beta.load();
    along = over(1, alpha);
    back = over(alpha, beta);
  }
  FURROW_HD void operator()(V& u, V q, sums<2> sum) const {
    u = V(along * double(q) - back * double(u));
    sum[0] += double(u) * double(u);
    sum[1] += double(q) * double(q);
  }
};

/// g = d w / alpha - (alpha / beta) g; sums g.g.
template <class V> struct next_damped {
  scalar alpha, beta;
  double damping;
  double along = 0, back = 0;
  next_damped(slot alpha, slot beta, double damping) : alpha(alpha), beta(beta), damping(damping) {}
  FURROW_HD void load() {
    alpha.load();
    beta.load();
    along = over(damping, alpha);
    back = over(alpha, beta);
  }
  FURROW_HD void operator()(V& g, V w, sums<1> sum) const {
    g = V(along * double(w) - back * double(g));
    sum[0] += double(g) * double(g);
  }
};

/// v = (t + d g) / size - (size / alpha) v; sums v.v.
template <class V> struct next_v {
  scalar size, alpha;
  double damping;
  double along = 0, back = 0;
  next_v(slot size, slot alpha, double damping) : size(size), alpha(alpha), damping(damping) {}
  FURROW_HD void load() {
    size.load();
    alpha.load();
    along = over(1, size);
    back = over(size, alpha);
  }
  FURROW_HD void operator()(V& v, V t, sums<1> sum) const { set(v, double(t), sum); }
  FURROW_HD void operator()(V& v, V t, V g, sums<1> sum) const { set(v, double(t) + damping * double(g), sum); }

private:
  FURROW_HD void set(V& v, double t, sums<1> sum) const {
    v = V(along * t - back * double(v));
    sum[0] += double(v) * double(v);
  }
};

/// The same where d v is kept in the place of v, and the new v is d (t + ...) / size - (size / alpha) v; sums v.v.
template <class V> struct next_scaled {
  next_v<V> plain;
  FURROW_HD void load() { plain.load(); }
  FURROW_HD void operator()(V& v, V t, V d, sums<1> sum) const { set(v, double(t), double(d), sum); }
  FURROW_HD void operator()(V& v, V t, V d, V g, sums<1> sum) const {
    set(v, double(t) + plain.damping * double(g), double(d), sum);
  }

private:
  FURROW_HD void set(V& v, double t, double d, sums<1> sum) const {
    const double next = plain.along * d * t - plain.back * over(double(v), d);
    v = V(d * next);
    sum[0] += next * next;
  }
};

/// t += d g.
template <class V> struct add_damped {
  double damping;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& t, V g, sums<0>) const { t = V(double(t) + damping * double(g)); }
};

/// Sums |t|.
struct sum_sizes {
  FURROW_HD void load() {}
  template <class V> FURROW_HD void operator()(V t, sums<1> sum) const { sum[0] += fabs(double(t)); }
};

/// t -= d^2 x; sums t.t, x.x.
template <class V> struct subtract_damped {
  double squared;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& t, V x, sums<2> sum) const {
    t = V(double(t) - squared * double(x));
    sum[0] += double(t) * double(t);
    sum[1] += double(x) * double(x);
  }
};

} // namespace furrow::bidiagonal_steps
