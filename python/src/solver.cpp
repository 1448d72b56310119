// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"
#include "matrix.hpp"
#include "report.hpp"

#include <furrow/function_operator.hpp>
#include <furrow/solver.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace furrow::python {
namespace {

/// A function of Python. Ctrl-C inside of it ends a solve as elsewhere, with the answer so far: it is called once more,
/// so that the step has its product.
struct function {
  nb::object f;
  device where;
  std::shared_ptr<hooks> heard;

  template <class V> void operator()(cview<V> x, view<V> y) const {
    try {
      return call(x, y);
    } catch (nb::python_error& e) {
      const with_lock lock;
      if (!heard->solving || heard->raised || !e.matches(PyExc_KeyboardInterrupt)) throw;
      heard->raised = std::current_exception();
    }
    call(x, y);
  }

private:
  template <class V> void call(cview<V> x, view<V> y) const {
    if (where.is_gpu()) call_where_they_lie(f, x, y);
    else call_on_copy(f, x, y);
  }
};

template <class V> struct function_preconditioner final : any_preconditioner<V> {
  explicit function_preconditioner(function f) : f(std::move(f)) {}
  void apply(cview<V> r, view<V> z) const override { f(r, z); }
  double stored_bytes() const override { return 0; }
  function f;
};

/// |A| in the spectral norm is at most the root of its largest row sum times its largest column sum.
template <class V> operator_facts facts_of(const matrix<V>& m) {
  const coo<V> t = m.to_triplets();
  std::vector<double> sum(static_cast<std::size_t>(t.shape.cols), 0.0);
  for (index_t k = 0; k < t.nnz(); ++k) sum[static_cast<std::size_t>(t.col[k])] += std::abs(double(t.val[k]));
  const double most = sum.empty() ? 0 : *std::ranges::max_element(sum);
  return {std::sqrt(m.facts().norm_inf * most), m.facts().row_max};
}

template <class V> struct kept_solver {
  std::shared_ptr<const any_operator<V>> a, transposed;
  std::shared_ptr<const any_preconditioner<V>> m;
  solver<V> s;
  device where{};

  /// f(s), on a stream of the caller. Functions of Python are called between steps, not recorded into a graph.
  template <class F> auto run(stream on, F f) {
    return on_stream(where, on, [&] {
      std::optional<driven_by_host> calls;
      if (a) calls.emplace(where);
      return f(s);
    });
  }
};

struct py_solver {
  std::shared_ptr<hooks> heard;
  std::variant<kept_solver<double>, kept_solver<float>> is;
};

/// `make(o)` makes the solver, on a stream of the caller. Runs on another thread, which does not touch Python.
template <class V, class Make>
kept_solver<V> set_up(bool is_long, const solve_options& o, hooks& h, stream on, Make make) {
  try {
    return at_length(is_long, o.where, [o, on, make = std::move(make)] {
      return on_stream(o.where, on, [&] { return kept_solver<V>{nullptr, nullptr, nullptr, make(o), o.where}; });
    });
  } catch (...) {
    h.cancelled = true;
    throw;
  }
}

/// From rows of the caller.
void from_rows(py_solver* self, const nb::object& indptr, const nb::object& indices, const nb::object& data,
               index_t rows, index_t cols, stream on, const nb::dict& options) {
  const auto h = new_hooks();
  const auto o = options_of(options, h);
  const auto make = [&]<class V>(V) {
    auto given = rows_of<V>(indptr, indices, data, {rows, cols}, o.where, on);
    const bool is_long = given.nnz() > long_entries;
    return set_up<V>(is_long, o, *h, on, [given = std::move(given)](const solve_options& same) {
      return std::visit([&](const auto& a) { return solver<V>(a, same); }, given.arrays);
    });
  };
  if (buffer(data, false).holds<double>()) new (self) py_solver{h, make(double{})};
  else new (self) py_solver{h, make(float{})};
}

/// A' of a matrix whose product with it is there.
template <class V> std::shared_ptr<const any_operator<V>> transpose_of(const matrix<V>& m) {
  const shape2 s = m.shape();
  return std::make_shared<function_operator<V>>(
      shape2{s.cols, s.rows}, [m](cview<V> x, view<V> y) { m.apply_transposed(V(1), x, V(0), y); }, m.where());
}

/// A product in Python as an operator; none where there is none.
template <class V> std::shared_ptr<const any_operator<V>> operator_of(const function& product, shape2 shape) {
  if (product.f.is_none()) return {};
  return std::make_shared<function_operator<V>>(shape, product, product.where);
}

/// From a matrix that is stored, and a function that preconditions, or None.
void from_matrix(py_solver* self, const py_matrix& a, const nb::object& precondition, const nb::dict& options) {
  const auto h = new_hooks();
  const auto o = options_of(options, h);
  a.visit([&]<class V>(const matrix<V>& m) {
    if (precondition.is_none()) {
      new (self) py_solver{h, set_up<V>(m.nnz() > long_entries, o, *h, {},
                                        [m](const solve_options& same) { return solver<V>(m, same); })};
      return;
    }
    const auto op = m.op();
    const auto transposed = transpose_of(m);
    const auto p = std::make_shared<function_preconditioner<V>>(function{precondition, m.where(), h});
    const operator_facts facts = at_length(false, m.where(), [m] { return facts_of(m); });
    new (self)
        py_solver{h, kept_solver<V>{op, transposed, p, solver<V>(*op, p.get(), o, facts, transposed.get()), m.where()}};
  });
}

/// From functions alone. `transposed`: x -> A' x, or None.
void from_function(py_solver* self, const nb::object& product, const nb::object& transposed, index_t rows, index_t cols,
                   bool single, const nb::object& precondition, const nb::dict& options) {
  const auto h = new_hooks();
  const auto o = options_of(options, h);
  const auto make = [&]<class V>(V) {
    const auto op = operator_of<V>({product, o.where, h}, {rows, cols}),
               back = operator_of<V>({transposed, o.where, h}, {cols, rows});
    std::shared_ptr<function_preconditioner<V>> p;
    if (!precondition.is_none()) p = std::make_shared<function_preconditioner<V>>(function{precondition, o.where, h});
    return kept_solver<V>{op, back, p, solver<V>(*op, p.get(), o, {}, back.get()), o.where};
  };
  if (single) new (self) py_solver{h, make(float{})};
  else new (self) py_solver{h, make(double{})};
}

/// Other values of the same pattern, for a solver of a `Matrix` and no function. What is interrupted, or fails, leaves
/// the solver without a system until it is set up again.
void update(py_solver& self, const py_matrix& a) {
  self.heard->raised = nullptr;
  std::visit(
      [&]<class V>(kept_solver<V>& kept) {
        const matrix<V> m = std::get<matrix<V>>(a.is);
        const auto own = std::make_shared<solver<V>>(std::move(kept.s)); // a helper may outlive the call
        try {
          at_length(m.nnz() > long_entries, kept.where, [own, m] {
            own->update_values(m);
            return 0;
          });
        } catch (...) {
          self.heard->cancelled = true;
          throw;
        }
        kept.s = std::move(*own);
      },
      self.is);
}

/// x holds the first guess and then the answer. On a GPU's own vectors it runs on `s`. An exception that came while
/// it ran is in "raised".
nb::dict solve_kept(py_solver& self, const nb::object& b, const nb::object& x, stream s) {
  const auto solving = self.heard->begin_solve();
  const solve_report report = std::visit(
      [&]<class V>(kept_solver<V>& kept) {
        const buffer from(b, false), to(x, true);
        const auto in = from.read<V>();
        const auto out = to.write<V>();
        const without_lock unlocked;
        return kept.run(s, [&](solver<V>& own) { return own.solve(in, out); });
      },
      self.is);
  nb::dict d = dict_of(report);
  d["raised"] = take_raised(*self.heard);
  return d;
}

/// Right-hand sides, first guesses and answers lie one behind the other. (What each says, what was raised or None).
nb::object solve_columns(py_solver& self, const nb::object& b, const nb::object& x, index_t columns, stream s) {
  const auto solving = self.heard->begin_solve();
  const std::vector<solve_report> reports = std::visit(
      [&]<class V>(kept_solver<V>& kept) {
        const buffer from(b, false), to(x, true);
        const auto in = from.read<V>();
        const auto out = to.write<V>();
        const without_lock unlocked;
        return kept.run(s, [&](solver<V>& own) { return own.solve(in, out, columns); });
      },
      self.is);
  nb::list all;
  for (const solve_report& r : reports) all.append(dict_of(r));
  return nb::make_tuple(all, take_raised(*self.heard));
}

} // namespace

void bind_solver(nb::module_& m) {
  nb::class_<py_solver> c(m, "Solver");
  c.def("__init__", &from_rows, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("rows"),
        nb::arg("cols"), nb::arg("stream").none(), nb::arg("options"));
  c.def("__init__", &from_matrix, nb::arg("matrix"), nb::arg("precondition").none(), nb::arg("options"));
  c.def("__init__", &from_function, nb::arg("product"), nb::arg("transposed").none(), nb::arg("rows"), nb::arg("cols"),
        nb::arg("single"), nb::arg("precondition").none(), nb::arg("options"));
  c.def("_update", &update);
  c.def(
      "_keep", [](py_solver& s, std::shared_ptr<kept_x> keeper) { s.heard->kept = std::move(keeper); },
      nb::arg("keeper").none());
  c.def("solve", &solve_kept);
  c.def("solve_columns", &solve_columns);
  c.def_prop_ro("setup_seconds", [](const py_solver& s) {
    return std::visit([](const auto& kept) { return kept.s.setup_seconds(); }, s.is);
  });
}

} // namespace furrow::python
