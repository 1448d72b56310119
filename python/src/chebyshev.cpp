// SPDX-License-Identifier: BSD-3-Clause
#include "matrix.hpp"

#include "backends/turn.hpp"
#include "chebyshev/between.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/formats.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace furrow::python {
namespace {

namespace cheb = chebyshev;

cheb::series series_of(const nb::object& coef, double low, double high) {
  const buffer from(coef, false);
  const auto in = from.read<double>();
  cheb::series p{host_array<double>(in.size), {low, high}};
  std::copy_n(in.data, in.size, p.coefficients.begin());
  cheb::check_series(p);
  return p;
}
nb::object numbers(const host_array<double>& values) { return new_array(as_cview(values)); }
nb::object coefficients(const cheb::series& p) { return numbers(p.coefficients); }

/// The coefficients, and where the tolerance is missed between the points, by how much: empty otherwise.
nb::object fit(const nb::object& f, double low, double high, double tolerance) {
  cheb::fit_options o;
  o.tolerance = tolerance;
  const std::function<void(cview<double>, view<double>)> values = [&](cview<double> x, view<double> y) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    call_on_copy(f, x, y);
  };
  const cheb::series p = cheb::fit(values, {low, high}, o);
  const std::string missed = cheb::told_between(cheb::error_between(values, p), p, tolerance);
  return nb::make_tuple(coefficients(p), missed);
}

constexpr double long_work = 3e8; ///< steps of a recurrence that take a tenth of a second

/// A copy that outlives the caller's array: what is interrupted goes on to its end.
template <class V> host_array<V> owned(cview<V> given) {
  host_array<V> copy(given.size);
  std::copy_n(given.data, given.size, copy.begin());
  return copy;
}

void evaluate(const nb::object& coef, double low, double high, const nb::object& x, const nb::object& y) {
  auto p = series_of(coef, low, high);
  const buffer from(x, false), to(y, true);
  const auto in = from.read<double>();
  const auto out = to.write<double>();
  if (double(in.size) * double(p.length()) > long_work) {
    const auto values = interruptible([p = std::move(p), at = owned(in)] {
      host_array<double> made(at.size());
      cheb::evaluate(p, as_cview(at), as_view(made));
      return made;
    });
    std::copy_n(values.begin(), values.size(), out.data);
    return;
  }
  const without_lock unlocked;
  cheb::evaluate(p, in, out);
}

constexpr index_t long_series = 4000; ///< coefficients whose roots and quotients take a tenth of a second

/// f() without the lock, and where it is long as `interruptible`.
template <class F> auto unlocked(bool is_long, F f) {
  if (is_long) return interruptible(std::move(f));
  const without_lock released;
  return f();
}

/// f(p) without the lock.
template <class F> auto of_series(F f) {
  return [f](const nb::object& coef, double low, double high) {
    auto p = series_of(coef, low, high);
    const bool is_long = p.length() > long_series;
    const auto result = unlocked(is_long, [f, p = std::move(p)] { return f(p); });
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result)>, cheb::series>) return coefficients(result);
    else return numbers(result);
  };
}

nb::object multiply(const nb::object& a, const nb::object& b) {
  auto p = series_of(a, -1, 1), q = series_of(b, -1, 1);
  const bool is_long = double(p.length()) * double(q.length()) > long_work;
  return numbers(unlocked(is_long, [p = std::move(p), q = std::move(q)] {
    return cheb::multiply<double>(as_cview(p.coefficients), as_cview(q.coefficients));
  }));
}

nb::object divide(const nb::object& a, const nb::object& b, double low, double high) {
  auto p = series_of(a, low, high), q = series_of(b, low, high);
  const bool is_long = p.length() + q.length() > long_series;
  return coefficients(unlocked(is_long, [p = std::move(p), q = std::move(q)] { return cheb::divide(p, q); }));
}

nb::object restriction(const nb::object& coef, double low, double high, double from, double to) {
  auto p = series_of(coef, low, high);
  const bool is_long = p.length() > long_series;
  return coefficients(unlocked(is_long, [p = std::move(p), from, to] { return cheb::restriction(p, {from, to}); }));
}

/// The operator of a matrix, on the device of its vectors.
template <class V> cheb::symmetric_operator<V> symmetric(const any_operator<V>& a) { return {a, a.where()}; }

/// Y <- p(A) X, columns one after another. On a GPU's own vectors it is enqueued on `s`.
void apply_series(const nb::object& coef, double low, double high, const py_matrix& a, const nb::object& x,
                  const nb::object& y, index_t vectors, stream s) {
  auto p = series_of(coef, low, high);
  a.visit([&]<class V>(matrix<V> m) {
    const buffer from(x, false), to(y, true);
    const auto in = from.read<V>();
    const auto out = to.write<V>();
    const auto op = m.op();
    const double steps = double(m.nnz() + 4 * m.shape().rows) * double(p.length()) * double(vectors);
    if (!op->where().is_gpu() && steps > long_work) {
      const auto made = interruptible([p = std::move(p), op, from_x = owned(in), vectors] {
        host_array<V> product(from_x.size());
        cheb::apply<V>(p, symmetric(*op), as_cview(from_x), as_view(product), vectors);
        return product;
      });
      std::copy_n(made.begin(), made.size(), out.data);
      return;
    }
    const without_lock unlocked;
    if (!op->where().is_gpu()) return cheb::apply(p, symmetric(*op), in, out, vectors);
    on_stream(op->where(), s, [&] {
      const turn mine(op->where());
      on_gpu<const V> from_there(in, from.is_on_gpu());
      on_gpu<V> to_there(out, to.is_on_gpu(), false);
      cheb::apply<V>(p, symmetric(*op), from_there.there(), to_there.there(), vectors);
      to_there.bring_home();
    });
  });
}

nb::object ends(cheb::interval on) { return nb::make_tuple(on.low, on.high); }

/// Of a matrix whose numbers lie near an end of the range, where products of vectors leave it, by way of that matrix
/// divided by a power of two.
template <class V>
cheb::interval narrowed(const matrix<V>& m, coo<V> a, cheb::interval outer, index_t steps, std::uint64_t seed) {
  constexpr int far = is_wide<V> ? 500 : 60;
  const int e = std::ilogb(std::max(std::abs(outer.low), std::abs(outer.high)));
  if (std::abs(e) <= far) return cheb::lanczos_bounds(symmetric(*m.op()), outer, steps, seed);
  for (V& v : a.val) v = std::scalbn(v, -e);
  outer = cheb::gershgorin(a);
  const choice how = choose(measure(a), precision_of<V>, m.where());
  const auto op = make<V>(how, m.where(), std::move(a));
  const cheb::interval on = cheb::lanczos_bounds(symmetric(*op), outer, steps, seed);
  return {std::scalbn(on.low, e), std::scalbn(on.high, e)};
}

/// By the discs of the rows, and narrowed by Lanczos' process unless `steps` is 0.
nb::object bounds(const py_matrix& a, index_t steps, std::uint64_t seed) {
  return a.visit([&]<class V>(const matrix<V>& m) {
    const auto on = at_length(m.nnz() > long_entries, m.where(), [m, steps, seed] {
      const turn mine(m.where());
      coo<V> entries = m.to_triplets();
      const auto outer = cheb::gershgorin(entries);
      return steps > 0 ? narrowed(m, std::move(entries), outer, steps, seed) : outer;
    });
    return ends(on);
  });
}

nb::object moments(const py_matrix& a, double low, double high, index_t count, index_t vectors, std::uint64_t seed) {
  return a.visit([&]<class V>(const matrix<V>& m) {
    const auto d = interruptible([=] {
      const turn mine(m.where());
      cheb::gershgorin(m.to_triplets()); // refuses what need not have real eigenvalues
      return cheb::density(symmetric(*m.op()), {low, high}, {count, vectors, seed});
    });
    return numbers(d.moments);
  });
}

/// Of the density with these moments: eigenvalues per unit at each point, or below it.
nb::object density_at(const nb::object& moments_, double low, double high, index_t rows, const nb::object& x,
                      bool below) {
  const buffer from(x, false), m(moments_, false);
  cheb::spectral_density d{{low, high}, rows, host_array<double>(m.read<double>().size)};
  std::ranges::copy(m.read<double>(), d.moments.begin());
  const auto in = from.read<double>();
  const bool is_long = in.size * d.moments.size() > long_entries;
  host_array<double> at(in.size);
  std::copy_n(in.data, in.size, at.begin());
  return numbers(at_length(is_long, {}, [d = std::move(d), at = std::move(at), below]() mutable {
    for (double& one : at) one = below ? d.count_below(one) : d.at(one);
    return std::move(at);
  }));
}

} // namespace

void bind_chebyshev(nb::module_& m) {
  m.def("chebyshev_fit", &fit);
  m.def("chebyshev_evaluate", &evaluate);
  m.def("chebyshev_multiply", &multiply);
  m.def("chebyshev_divide", &divide);
  m.def("chebyshev_restriction", &restriction);
  m.def("chebyshev_roots", of_series([](const cheb::series& p) { return cheb::roots(p); }));
  m.def("chebyshev_derivative", of_series([](const cheb::series& p) { return cheb::derivative(p); }));
  m.def("chebyshev_integral", of_series([](const cheb::series& p) { return cheb::integral(p); }));
  m.def("chebyshev_exponential", [](double t, double low, double high, double tolerance) {
    return coefficients(cheb::exponential(t, {low, high}, tolerance));
  });
  m.def("chebyshev_apply", &apply_series);
  m.def("chebyshev_bounds", &bounds);
  m.def("chebyshev_moments", &moments);
  m.def("chebyshev_density_at", &density_at);
}

} // namespace furrow::python
