// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu.hpp"

#include <furrow/matrix.hpp>

#include <string>
#include <variant>

namespace furrow::python {

/// `furrow.Matrix`: of doubles or of floats. Read and replaced with the interpreter's lock held; who works without it
/// takes a copy, which costs nothing.
struct py_matrix {
  std::variant<matrix<double>, matrix<float>> is;

  template <class F> auto visit(F f) const { return std::visit(f, is); }
  shape2 shape() const {
    return visit([](const auto& m) { return m.shape(); });
  }
  device where() const {
    return visit([](const auto& m) { return m.where(); });
  }
  /// Whether a product may take longer than ten microseconds, or wait for its turn.
  bool is_long() const {
    return visit([](const auto& m) { return m.nnz() + m.shape().rows > 20000 || m.where().is_gpu(); });
  }
};

/// Rows of the caller, copied into triplets by another thread.
template <class V> struct caller_rows {
  std::variant<csr_arrays<V, std::int32_t>, csr_arrays<V, std::int64_t>> arrays;
  std::shared_ptr<const void> alive; ///< indptr, indices and data

  index_t nnz() const {
    return std::visit([](const auto& a) { return a.val.size; }, arrays);
  }
};

/// indptr and indices of one width.
template <class V>
caller_rows<V> rows_of(const nb::object& indptr, const nb::object& indices, const nb::object& data, shape2 shape) {
  const auto make = [&]<class I>(I) {
    buffer p(indptr, false), i(indices, false), v(data, false);
    csr_arrays<V, I> a{shape, p.read<I>(), i.read<I>(), v.read<V>(), {}, {}};
    a.owner = keep(std::move(p), std::move(i)); // the pattern, for `update_values`
    return caller_rows<V>{std::move(a), keep(std::move(v))};
  };
  return buffer(indptr).holds<std::int32_t>() ? make(std::int32_t{}) : make(std::int64_t{});
}

} // namespace furrow::python
