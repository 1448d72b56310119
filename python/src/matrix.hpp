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

/// Rows of the caller, read by another thread: in host memory, or on a GPU, on the stream of their library.
template <class V> struct caller_rows {
  /// What keeps the arrays alive: the pattern for `update_values`, too.
  struct kept {
    std::shared_ptr<const void> pattern, values;
  };
  std::variant<csr_arrays<V, std::int32_t>, csr_arrays<V, std::int64_t>> arrays;
  std::shared_ptr<kept> owner;
  stream on;

  index_t nnz() const {
    return std::visit([](const auto& a) { return a.val.size; }, arrays);
  }
  device where() const {
    return std::visit([](const auto& a) { return a.where; }, arrays);
  }
  /// A matrix that was made of them keeps the pattern. Values are let go of unless its format has them where they lie.
  void release_values() const {
    constexpr int arrays_this_and_pattern = 3;
    if (!where().is_gpu() || owner.use_count() == arrays_this_and_pattern) owner->values.reset();
  }
};

/// indptr and indices of one width; on a GPU all of them on `where`.
template <class V>
caller_rows<V> rows_of(const nb::object& indptr, const nb::object& indices, const nb::object& data, shape2 shape,
                       device where = {}, stream on = {}) {
  const auto make = [&]<class I>(I) {
    buffer p(indptr, false), i(indices, false), v(data, false);
    csr_arrays<V, I> a{shape, p.read<I>(), i.read<I>(), v.read<V>(), p.is_on_gpu() ? where : device{}, {}};
    using kept = typename caller_rows<V>::kept;
    auto owner = std::make_shared<kept>(kept{keep(std::move(p), std::move(i)), keep(std::move(v))});
    a.owner = owner;
    return caller_rows<V>{std::move(a), std::move(owner), on};
  };
  return buffer(indptr, false).holds<std::int32_t>() ? make(std::int32_t{}) : make(std::int64_t{});
}

} // namespace furrow::python
