// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: the files of `furrow solve --checkpoint`.
#include "checkpoint.hpp"
#include "matrix.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

namespace furrow::python {

kept_x::kept_x(std::string file, double every, checkpoint from, nb::object warning)
    : keeper(std::move(file), every, std::move(from)), warn(std::move(warning)) {
  keeper.failed = [this](const error& e) { failed = e.what(); };
  solve_options o;
  keeper.watch(o);
  monitor = std::move(o.monitor);
}

namespace {

/// Of rows in host memory; entries of one place add up first, as in every solve.
system_fingerprint of_rows(const nb::object& indptr, const nb::object& indices, const nb::object& data, index_t rows,
                           index_t cols, const nb::object& b) {
  const auto print = [&]<class V>(V) {
    const auto given = rows_of<V>(indptr, indices, data, {rows, cols});
    const buffer from(b, false);
    const auto rhs = from.read<V>();
    const without_lock unlocked;
    return std::visit([&](const auto& a) { return fingerprint(to_coo(a), rhs); }, given.arrays);
  };
  return buffer(data, false).holds<double>() ? print(double{}) : print(float{});
}

system_fingerprint of_matrix(const py_matrix& a, const nb::object& b) {
  return a.visit([&]<class V>(const matrix<V>& m) {
    const buffer from(b, false);
    const auto rhs = from.read<V>();
    const matrix<V> own = m;
    const without_lock unlocked;
    return fingerprint(own.to_triplets(), rhs);
  });
}

/// What a file holds of this system.
nb::dict read(const nb::bytes& name, const system_fingerprint& system) {
  const std::string file = file_of(name);
  const checkpoint saved = [&] {
    const without_lock unlocked;
    checkpoint c = read_checkpoint(file);
    check_is_of(c, system, file);
    return c;
  }();
  nb::dict d;
  d["iterations"] = saved.iterations, d["seconds"] = saved.seconds;
  d["solver"] = saved.solver, d["precond"] = saved.precond;
  d["relative_residual"] = saved.relative_residual;
  d["x"] = new_array(as_cview(saved.x));
  return d;
}

void make_keeper(kept_x* self, const nb::bytes& file, double every, const system_fingerprint& system,
                 const std::string& solver, const std::string& precond, index_t iterations, double seconds,
                 const nb::object& warn) {
  new (self) kept_x(file_of(file), every, {system, solver, precond, iterations, seconds, 0, {}}, warn);
}

/// x: in host memory, of doubles. `iterations`: of all methods that were tried.
void finish(kept_x& k, index_t iterations, double seconds, double residual, const nb::object& x) {
  const buffer from(x, false);
  const auto in = from.read<double>();
  solve_report report;
  report.iterations = iterations, report.solve_seconds = seconds, report.relative_residual = residual;
  {
    const without_lock unlocked;
    k.keeper.finish(report, in);
  }
  if (k.wants_to_tell()) k.tell();
}

} // namespace

void bind_checkpoint(nb::module_& m) {
  nb::class_<system_fingerprint>(m, "Fingerprint")
      .def(
          "__init__",
          [](system_fingerprint* self, const nb::object& indptr, const nb::object& indices, const nb::object& data,
             index_t rows, index_t cols,
             const nb::object& b) { new (self) system_fingerprint(of_rows(indptr, indices, data, rows, cols, b)); },
          nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("rows"), nb::arg("cols"), nb::arg("b"))
      .def(
          "__init__",
          [](system_fingerprint* self, const py_matrix& matrix, const nb::object& b) {
            new (self) system_fingerprint(of_matrix(matrix, b));
          },
          nb::arg("matrix"), nb::arg("b"));
  nb::class_<kept_x>(m, "Keeper")
      .def("__init__", &make_keeper, nb::arg("file"), nb::arg("every"), nb::arg("system"), nb::arg("solver"),
           nb::arg("precond"), nb::arg("iterations"), nb::arg("seconds"), nb::arg("warn"))
      .def("finish", &finish)
      .def_prop_ro("written", [](const kept_x& k) { return k.keeper.written(); });
  m.def("read_checkpoint", &read);
}

} // namespace furrow::python
