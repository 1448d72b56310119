// SPDX-License-Identifier: BSD-3-Clause
// The module furrow._core: names, errors, threads, devices. What a person sees is Python: furrow/*.py.
#include "gpu.hpp"

#include "core/environment.hpp"

#include <furrow/formats.hpp>
#include <furrow/solve.hpp>
#include <furrow/version.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <iterator>

namespace furrow::python {
namespace {

/// The classes of furrow/_errors.py, by `fault`.
std::array<PyObject*, 5> error_classes{};

void set_errors(const nb::object& usage, const nb::object& input, const nb::object& memory, const nb::object& device,
                const nb::object& internal) {
  const std::array given{usage, input, memory, device, internal};
  for (std::size_t k = 0; k < given.size(); ++k) error_classes[k] = given[k].inc_ref().ptr();
}

void translate(const std::exception_ptr& what, void*) {
  try {
    std::rethrow_exception(what);
  } catch (const error& e) {
    const std::string_view said = e.what(); // names of files may be no UTF-8
    const auto text = nb::steal(PyUnicode_DecodeUTF8(said.data(), std::ssize(said), "replace"));
    PyErr_SetObject(error_classes[static_cast<std::size_t>(e.kind)], text.ptr());
  }
}

nb::list names_of(const std::vector<named>& all) {
  nb::list names;
  for (const auto& one : all) names.append(nb::make_tuple(one.name, one.about, one.on_gpu));
  return names;
}

/// What is wrong with the first variable of the environment that makes no sense, also where nothing asks for it; empty:
/// none.
std::string environment_mistake() {
  try {
    check_environment();
    return {};
  } catch (const error& e) {
    return e.what();
  }
}

} // namespace

nb::object empty_array(index_t n, char letter) {
  // Kept for good: the module is never unloaded.
  static PyObject* const empty = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
  const char name[2] = {letter, 0};
  return nb::borrow(empty)(n, nb::str(name));
}

} // namespace furrow::python

NB_MODULE(_core, m) {
  using namespace furrow::python;
  m.doc() = "The library behind the package furrow.";
  nb::register_exception_translator(translate);
  nb::set_leak_warnings(false); // a callback that knows its own solver is a ring that nobody sees through
  m.def("set_errors", &set_errors);
  m.def("set_threads", &furrow::set_threads);
  m.def("threads", &furrow::threads);
  m.def("solvers", [] { return names_of(furrow::solvers()); });
  m.def("preconditioners", [] { return names_of(furrow::preconditioners()); });
  m.def("formats", [] {
    nb::list names;
    for (const auto* f : furrow::formats()) names.append(f->name);
    return names;
  });
  m.def("environment_mistake", &environment_mistake);
  m.attr("version") = furrow::version;
  bind_gpu(m);
  bind_matrix(m);
  bind_checkpoint(m);
  bind_solver(m);
  bind_batch(m);
  bind_ranks(m);
  bind_report(m);
  bind_inputs(m);
  bind_dense(m);
  bind_chebyshev(m);
}
