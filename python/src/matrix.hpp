// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "support.hpp"

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
  /// Whether a product may take longer than ten microseconds.
  bool is_long() const {
    return visit([](const auto& m) { return m.nnz() + m.shape().rows > 20000; });
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

/// f() as `interruptible` where it takes long; otherwise at once.
template <class F> auto at_length(bool is_long, F f) {
  if (is_long) return interruptible(std::move(f));
  return f();
}
inline constexpr index_t long_entries = 100000; ///< a set-up of more takes milliseconds

} // namespace furrow::python
