// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <furrow/gemv.hpp>

#include <nanobind/stl/string.h>

#include <string>

namespace furrow::python {
namespace {

template <class T>
void multiply(std::uintptr_t data, shape2 shape, index_t leading, bool by_columns, const nb::object& x,
              const nb::object& y, double alpha, double beta, bool transposed) {
  using V = vector_value<T>;
  const buffer from(x, false), to(y, true);
  const auto in = from.read<V>();
  const auto out = to.write<V>();
  const dense_view<T> a{reinterpret_cast<const T*>(data), shape, leading,
                        by_columns ? storage_order::col_major : storage_order::row_major};
  gemv_options o;
  o.transposed = transposed;
  const nb::gil_scoped_release unlocked;
  gemv<T>(static_cast<V>(alpha), a, in, static_cast<V>(beta), out, o);
}

/// `kind`: f64 f32 f16 bf16. The matrix lies at `data`, which furrow/_dense.py holds for the call.
void product(const std::string& kind, std::uintptr_t data, index_t rows, index_t cols, index_t leading, bool by_columns,
             const nb::object& x, const nb::object& y, double alpha, double beta, bool transposed) {
  const shape2 s{rows, cols};
  if (kind == "f64") multiply<double>(data, s, leading, by_columns, x, y, alpha, beta, transposed);
  else if (kind == "f32") multiply<float>(data, s, leading, by_columns, x, y, alpha, beta, transposed);
  else if (kind == "f16") multiply<half>(data, s, leading, by_columns, x, y, alpha, beta, transposed);
  else multiply<bfloat16>(data, s, leading, by_columns, x, y, alpha, beta, transposed);
}

} // namespace

void bind_dense(nb::module_& m) { m.def("gemv", &product); }

} // namespace furrow::python
