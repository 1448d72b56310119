// SPDX-License-Identifier: BSD-3-Clause
#include "matrix.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <new>
#include <optional>

namespace furrow::python {
namespace {

template <class V>
matrix<V> make(const nb::object& indptr, const nb::object& indices, const nb::object& data, shape2 shape,
               const matrix_options& o, stream on) {
  auto rows = rows_of<V>(indptr, indices, data, shape, o.where, on);
  const bool is_long = rows.nnz() > long_entries;
  return at_length(is_long, o.where, [rows = std::move(rows), o] {
    return on_stream(o.where, rows.on, [&] {
      auto made = std::visit([&](const auto& a) { return matrix<V>(a, o); }, rows.arrays);
      rows.release_values();
      return made;
    });
  });
}

void construct(py_matrix* self, const nb::object& indptr, const nb::object& indices, const nb::object& data,
               index_t rows, index_t cols, std::string format, std::string kernel, bool tune, int ordinal, stream on) {
  matrix_options o;
  o.format = std::move(format);
  o.kernel = std::move(kernel);
  o.tune = tune;
  o.where = device_at(ordinal);
  if (buffer(data, false).holds<double>())
    new (self) py_matrix{make<double>(indptr, indices, data, {rows, cols}, o, on)};
  else new (self) py_matrix{make<float>(indptr, indices, data, {rows, cols}, o, on)};
}

template <class V>
void multiply(const matrix<V>& m, V alpha, cview<V> x, V beta, view<V> y, index_t vectors, bool by_rows,
              bool transposed) {
  const auto order = by_rows ? storage_order::row_major : storage_order::col_major;
  if (transposed) m.apply_transposed(alpha, x, beta, y, vectors, order);
  else m.apply(alpha, x, beta, y, vectors, order);
}

/// y <- alpha op(A) x + beta y; several vectors one after another, or row by row. On a GPU's own vectors it is enqueued
/// on `s`.
void apply(const py_matrix& a, const nb::object& x, const nb::object& y, double alpha, double beta, index_t vectors,
           bool by_rows, bool transposed, stream s) {
  const bool is_long = a.is_long() || transposed;
  a.visit([&]<class V>(matrix<V> m) {
    const buffer from(x, false), to(y, true);
    const auto in = from.read<V>();
    const auto out = to.write<V>();
    std::optional<without_lock> unlocked;
    if (is_long || vectors > 1) unlocked.emplace();
    on_stream(m.where(), s, [&] {
      multiply<V>(m, static_cast<V>(alpha), in, static_cast<V>(beta), out, vectors, by_rows, transposed);
    });
  });
}

/// Whether it is an array of NumPy, and no subclass that means more by it: below a mask stands anything.
bool is_plain_array(nb::handle x) {
  static PyObject* const type = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr(); // for good
  return x.type().ptr() == type;
}

/// The matrix of an object of Python; TypeError where a class made from it left `__init__` out.
const py_matrix& made(nb::handle_t<py_matrix> self) {
  if (!nb::inst_ready(self)) throw nb::type_error("a Matrix whose __init__ has not run: call super().__init__(A)");
  return *nb::inst_ptr<py_matrix>(self);
}

/// A @ x for a vector that needs no look: otherwise what `_matmul` of furrow/_matrix.py makes of it.
nb::object matmul(nb::handle_t<py_matrix> self, nb::handle x) {
  const auto& a = made(self);
  if (!is_plain_array(x)) return nb::object(self.attr("_matmul")(x));
  const buffer from(x);
  const shape2 s = a.shape();
  nb::object y;
  a.visit([&]<class V>(const matrix<V>& m) {
    if (!from.holds<V>() || !from.is_vector_of(s.cols)) return;
    y = empty_array(s.rows, letters<V>[0]);
    const buffer to(y, true);
    const auto out = to.write<V>();
    if (!a.is_long()) return m.apply(1, from.read<V>(), 0, out);
    const matrix<V> kept = m;
    const without_lock unlocked;
    kept.apply(1, from.read<V>(), 0, out);
  });
  return y.is_valid() ? y : nb::object(self.attr("_matmul")(x));
}

void update_values(py_matrix& a, const nb::object& values, stream on) {
  const bool is_long = a.visit([](const auto& m) { return m.nnz() > long_entries; });
  std::visit(
      [&]<class V>(matrix<V>& m) {
        buffer from(values, false);
        const auto in = from.read<V>();
        m = at_length(is_long, m.where(), [next = matrix<V>(m), in, alive = keep(std::move(from)), on]() mutable {
          on_stream(next.where(), on, [&] { next.update_values(in); });
          return next;
        });
      },
      a.is);
}

/// (indptr, indices, data) of the stored matrix.
nb::object triplets(const py_matrix& a) {
  return a.visit([&]<class V>(const matrix<V>& m) -> nb::object {
    const coo<V> t = at_length(false, m.where(), [m] { return m.to_triplets(); });
    return nb::make_tuple(new_array(as_cview(t.row)), new_array(as_cview(t.col)), new_array(as_cview(t.val)));
  });
}

nb::dict facts(const py_matrix& a) {
  return a.visit([&]<class V>(const matrix<V>& m) {
    const stats& s = m.facts();
    nb::dict d;
    d["rows"] = s.shape.rows, d["cols"] = s.shape.cols, d["nnz"] = s.nnz;
    d["row_min"] = s.row_min, d["row_max"] = s.row_max;
    d["row_mean"] = s.row_mean, d["row_deviation"] = s.row_deviation;
    d["empty_rows"] = s.empty_rows;
    d["lower_bandwidth"] = s.lower_bandwidth, d["upper_bandwidth"] = s.upper_bandwidth;
    d["diagonals"] = s.diagonals, d["zero_diagonal"] = s.zero_diagonal;
    d["explicit_zeros"] = s.explicit_zeros;
    d["norm_inf"] = s.norm_inf, d["largest"] = s.largest;
    d["finite"] = s.finite;
    d["stored_bytes"] = m.op()->stored_bytes();
    d["bytes_per_apply"] = m.op()->bytes_per_apply();
    return d;
  });
}

template <class F> auto get(F f) {
  return [f](nb::handle_t<py_matrix> a) { return made(a).visit(f); };
}

} // namespace

void bind_matrix(nb::module_& m) {
  nb::class_<py_matrix>(m, "Matrix")
      .def("__init__", &construct, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("rows"),
           nb::arg("cols"), nb::arg("format"), nb::arg("kernel"), nb::arg("tune"), nb::arg("ordinal"),
           nb::arg("stream").none())
      .def("__matmul__", &matmul, nb::arg("x").none())
      .def("_apply", &apply)
      .def("_update_values", &update_values, nb::arg("values"), nb::arg("stream").none())
      .def("_triplets", &triplets)
      .def("_facts", &facts)
      .def_prop_ro(
          "shape", [](nb::handle_t<py_matrix> a) { return nb::make_tuple(made(a).shape().rows, made(a).shape().cols); },
          "Rows and columns.")
      .def_prop_ro("_ordinal",
                   [](nb::handle_t<py_matrix> a) { return made(a).where().is_gpu() ? made(a).where().ordinal : -1; })
      .def_prop_ro("nnz", get([](const auto& one) { return one.nnz(); }), "Entries.")
      .def_prop_ro("_letter", get([]<class V>(const matrix<V>&) { return std::string(letters<V>); }))
      .def_prop_ro("format", get([](const auto& one) { return name_of(one.chosen()); }), "Format that is stored.")
      .def_prop_ro("kernel", get([](const auto& one) { return one.chosen().kernel; }), "Kernel that multiplies.")
      .def_prop_ro("reason", get([](const auto& one) { return one.chosen().reason; }), "Why these were chosen.");
}

} // namespace furrow::python
