// SPDX-License-Identifier: BSD-3-Clause
#include "gpu.hpp"

#include "backends/turn.hpp"

#include <furrow/gemv.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

namespace furrow::python {
namespace {

/// The matrix in GPU memory: itself, or a copy.
template <class T> class gpu_matrix {
public:
  gpu_matrix(dense_view<T> a, bool is_there) : a_(a), copy_(is_there ? 0 : span_of(a)) {
    if (is_there) return;
    copy_bytes(gpu_memory{}, copy_.data(), host_memory{}, a.data, copy_.byte_count());
    a_.data = copy_.data();
  }
  const dense_view<T>& operator*() const { return a_; }

private:
  /// From the first element to the last one.
  static index_t span_of(const dense_view<T>& a) {
    const bool by_rows = a.order == storage_order::row_major;
    const index_t lines = by_rows ? a.shape.rows : a.shape.cols, length = by_rows ? a.shape.cols : a.shape.rows;
    return lines > 0 && length > 0 ? (lines - 1) * a.leading + length : 0;
  }
  dense_view<T> a_;
  gpu_array<T> copy_;
};

/// The vectors of an array without gaps: (array, elements apart, from one to the next).
template <class V> struct given_vectors {
  V* data;
  index_t stride, next;
  /// Those from number `first` on, up to as many as one pass takes.
  vectors<V> some(index_t size, index_t first, index_t all) const {
    return {data + first * next, size, stride, std::min<index_t>(all - first, 8), next};
  }
};

/// Passes over A for all vectors.
template <class T>
void multiply_all(double alpha, const dense_view<T>& a, const given_vectors<const vector_value<T>>& x, double beta,
                  const given_vectors<vector_value<T>>& y, index_t count, const gemv_options& o) {
  using V = vector_value<T>;
  const index_t in = o.transposed ? a.shape.rows : a.shape.cols, out = o.transposed ? a.shape.cols : a.shape.rows;
  for (index_t first = 0; first < count; first += 8)
    gemv<T>(static_cast<V>(alpha), a, x.some(in, first, count), static_cast<V>(beta), y.some(out, first, count), o);
}

template <class T>
void multiply(std::uintptr_t data, shape2 shape, index_t leading, bool by_columns, const nb::tuple& x,
              const nb::tuple& y, index_t count, double alpha, double beta, bool transposed, int ordinal, stream s) {
  using V = vector_value<T>;
  const nb::object x_array = x[0], y_array = y[0];
  const buffer from(x_array, false), to(y_array, true);
  const auto in = from.read<V>();
  const auto out = to.write<V>();
  const auto steps = [](const nb::tuple& v) { return std::pair(nb::cast<index_t>(v[1]), nb::cast<index_t>(v[2])); };
  const auto [x_stride, x_next] = steps(x);
  const auto [y_stride, y_next] = steps(y);
  const dense_view<T> a{reinterpret_cast<const T*>(data), shape, leading,
                        by_columns ? storage_order::col_major : storage_order::row_major};
  gemv_options o;
  o.transposed = transposed;
  o.where = device_at(ordinal);
  const auto product = [&](const dense_view<T>& on, const V* x_data, V* y_data) {
    multiply_all<T>(alpha, on, {x_data, x_stride, x_next}, beta, {y_data, y_stride, y_next}, count, o);
  };
  const without_lock unlocked;
  if (!o.where.is_gpu()) return product(a, in.data, out.data);
  const bool is_there = s.has_value();
  on_stream(o.where, s, [&] {
    const turn mine(o.where);
    const gpu_matrix<T> there_a(a, is_there);
    on_gpu<const V> there_x(in, is_there);
    on_gpu<V> there_y(out, is_there, beta != 0);
    product(*there_a, there_x.there().data, there_y.there().data);
    there_y.bring_home();
  });
}

/// `kind`: f64 f32 f16 bf16. The matrix lies at `data`, which furrow/_dense.py holds for the call. x, y: `count`
/// vectors each, (array, elements apart, from one vector to the next). `ordinal`: of the GPU that multiplies, -1 for
/// the CPU. `s`: where everything lies on that GPU.
void product(const std::string& kind, std::uintptr_t data, index_t rows, index_t cols, index_t leading, bool by_columns,
             const nb::tuple& x, const nb::tuple& y, index_t count, double alpha, double beta, bool transposed,
             int ordinal, stream s) {
  const auto call = [&]<class T>(T) {
    multiply<T>(data, {rows, cols}, leading, by_columns, x, y, count, alpha, beta, transposed, ordinal, s);
  };
  if (kind == "f64") call(double{});
  else if (kind == "f32") call(float{});
  else if (kind == "f16") call(half{});
  else call(bfloat16{});
}

} // namespace

void bind_dense(nb::module_& m) { m.def("gemv", &product); }

} // namespace furrow::python
