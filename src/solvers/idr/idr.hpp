// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "core/parameters.hpp"
#include "solvers/method.hpp"
#include "solvers/shadow_vector.hpp"

#include <furrow/array.hpp>

namespace furrow {

namespace idr_messages {
/// The end that a verdict of IDR means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace idr_messages

/// IDR(s), bi-orthogonal, preconditioned from the right: A x = b for any square A, written once for every space. Of s
/// shadow vectors P, G = A U and the lower triangular L = P'G, **a cycle, which is an iteration of the report**, makes
/// new vectors one after the other, and then a step along r; s + 1 products:
///
///   f = P'r
///   k = 0 .. s-1:  L c = f for the directions from k on;  u_k = U c + omega M (r - G c);  g_k = A u_k
///                  h = P'g_k;  L y = h before k;  g_k -= G y;  u_k -= U y;  column k of L = h - L y
///                  stride_k = f_k / l_kk;  r -= stride_k g_k;  f -= stride_k (column k of L)
///   t = A M r;  omega = t'r / t't, see `choose_omega`;  x += U stride + omega M r;  r -= omega t
///
/// r lies in spaces that shrink by s dimensions a cycle: at most n + n / s products in exact arithmetic. The residual
/// is that of A x = b, whatever M is. Allocates P, G and U, s vectors each, v, and z where M is not the identity,
/// beside what `iteration` takes. h comes of one pass over P, by L, and not of one pass for each of its elements. Cost
/// of a cycle: s + 1 products, and passes over 3 s^2 + 13 s + 6 vectors, 106 for 4; a diagonal M adds s + 4, another
/// one its s + 1 applications and 1. The residual is not monotone: behind a hump r is worked out anew, a product more.
/// Where l_kk is nothing beside P'A u, it starts again from the residual at hand.
/// P is pseudo-random, from a fixed seed. The same bits on every run with the same build and device.
/// M. B. van Gijzen, P. Sonneveld, Algorithm 913: an elegant IDR(s) variant that efficiently exploits bi-orthogonality
/// properties, 2011.
template <vector_space S> class induced_dimension_reduction : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::diagonal,
      base::stored;
  using typename base::V;

public:
  induced_dimension_reduction(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, idr_steps::numbers::count(shadows_of(system))), shadows_(shadows_of(system)),
        shadow_memory_(space.make_basis(n_, shadows_)), g_memory_(space.make_basis(n_, shadows_)),
        u_memory_(space.make_basis(n_, shadows_)), v_(base::make()), z_(base::make(!plain())) {
    it_.replace_residual_behind_humps();
    make_shadow_space();
  }

  static index_t shadows(std::string_view parameters) {
    return entry_parameters("idr[:S]", parameters).whole(0, 4, 1, 16);
  }
  static index_t vectors(std::string_view parameters) { return 2 + 3 * shadows(parameters) + 2; }

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    s_.scalars(idr_steps::reset{numbers()});
    for (auto* memory : {&g_memory_, &u_memory_}) s_.sweep(memory->size(), pass(set_zero{}, out(as_view(*memory))));
  }

  void step() {
    using namespace idr_steps;
    s_.project(of(shadow_memory_), count(shadows_), it_.r(), slot{numbers().f()}, at(squares));
    s_.scalars(begin_cycle{numbers()});
    for (int k = 0; k < shadows_; ++k) advance_along(k);
    const view<V> r = it_.r(), t = as_view(v_), z = base::precondition(r, as_view(z_));
    a_.apply(V(1), z, V(0), t);
    s_.sweep(n_, pass(measure_step<V>{}, in(t), in(r)), at(tr), at(tt), at(before));
    s_.scalars(choose_omega{it_.slots()});
    const auto move = [&](auto... image) {
      s_.combine(of(u_memory_), count(shadows_), slot{numbers().strides()},
                 pass(finish<V>{at(omega)}, given<V>(), both(x_), both(r), in(t), image...), at(control::rr));
    };
    if (plain()) move();
    else move(in(z));
  }

  idr_steps::judge judge() { return idr_steps::judge{numbers()}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return idr_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    const double s = shadows_;
    double total = (s + 1) * a_.bytes_per_apply() + base::vectors(3 * s * s + 13 * s + 6);
    if (diagonal()) total += base::vectors(s + 4);
    if (stored()) total += (s + 1) * base::bytes_of_precondition() + base::vectors(1);
    return total;
  }

private:
  static int shadows_of(const linear_system<V>& system) {
    return static_cast<int>(std::min(shadows(system.parameters), system.size()));
  }
  idr_steps::numbers numbers() { return {it_.slots(), shadows_}; }
  slot count(int k) { return {numbers().counts() + k}; }
  /// The vectors from k on.
  basis<V> of(typename base::array& memory, int k = 0) { return {memory.data() + k * basis<V>::stride_of(n_), n_}; }

  void make_shadow_space() {
    using namespace idr_steps;
    s_.scalars(reset{numbers()});
    for (int k = 0; k < shadows_; ++k) {
      const basis<V> all = of(shadow_memory_);
      const slot h{numbers().h()}, f{numbers().f()};
      const typename base::array random(shadow_vector<V>(n_, k, base::system_.first_row));
      s_.copy(as_cview(random), all[k]);
      s_.project(all, count(k), all[k], f, at(squares)); // twice, which is as good as to rounding
      s_.subtract_and_project(all, count(k), f, all[k], h, at(squares));
      s_.scalars(normalise{numbers(), k});
      s_.combine(all, count(k), h, pass(shape_shadow<V>{at(omega)}, given<V>(), both(all[k])));
    }
  }

  /// The next u and g, and r without its part along p_k.
  void advance_along(int k) {
    using namespace idr_steps;
    const view<V> u = of(u_memory_)[k], g = of(g_memory_)[k], r = it_.r(), v = as_view(v_);
    const slot c{numbers().c() + k}, left = count(shadows_ - k), taken{numbers().taken()};
    const view<V> z = plain() ? v : as_view(z_);
    if (diagonal())
      s_.combine(of(g_memory_, k), left, c, pass(leave<V>{}, given<V>(), out(z), in(r), in(m_.diagonal())));
    else s_.combine(of(g_memory_, k), left, c, pass(leave<V>{}, given<V>(), out(v), in(r)));
    if (stored()) m_.apply(v, z);
    s_.combine(of(u_memory_, k), left, c, pass(point<V>{at(omega)}, given<V>(), out(u), in(z)));
    a_.apply(V(1), u, V(0), g);
    s_.project(of(shadow_memory_), count(shadows_), g, slot{numbers().h()}, at(squares));
    s_.scalars(advance{numbers(), k, rounding()});
    const slot stride{numbers().strides() + k};
    s_.combine(of(g_memory_), count(k), taken, pass(descend<V>{stride}, given<V>(), both(g), both(r)));
    if (k > 0) s_.combine(of(u_memory_), count(k), taken, pass(subtract<V>{}, given<V>(), both(u)));
  }

  /// Of the product and of the sums.
  double rounding() const { return (double(base::system_.longest_row) + 64) * (std::numeric_limits<V>::epsilon() / 2); }

  int shadows_;
  typename base::array shadow_memory_, g_memory_, u_memory_, v_, z_;
};

struct idr_method {
  template <vector_space S> using solver = induced_dimension_reduction<S>;
};

} // namespace furrow
