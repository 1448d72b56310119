// SPDX-License-Identifier: BSD-3-Clause
#include "gpu.hpp"

#include "backends/turn.hpp"

#include <furrow/gemv.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

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

template <class T>
void multiply_on_gpu(const dense_view<T>& a, cview<vector_value<T>> x, view<vector_value<T>> y, double alpha,
                     double beta, const gemv_options& o, stream s) {
  using V = vector_value<T>;
  const bool is_there = s.has_value();
  on_stream(o.where, s, [&] {
    const turn mine(o.where);
    const gpu_matrix<T> there_a(a, is_there);
    on_gpu<const V> there_x(x, is_there);
    on_gpu<V> there_y(y, is_there, beta != 0);
    gemv<T>(static_cast<V>(alpha), *there_a, there_x.there(), static_cast<V>(beta), there_y.there(), o);
    there_y.bring_home();
  });
}

template <class T>
void multiply(std::uintptr_t data, shape2 shape, index_t leading, bool by_columns, const nb::object& x,
              const nb::object& y, double alpha, double beta, bool transposed, int ordinal, stream s) {
  using V = vector_value<T>;
  const buffer from(x, false), to(y, true);
  const auto in = from.read<V>();
  const auto out = to.write<V>();
  const dense_view<T> a{reinterpret_cast<const T*>(data), shape, leading,
                        by_columns ? storage_order::col_major : storage_order::row_major};
  gemv_options o;
  o.transposed = transposed;
  o.where = device_at(ordinal);
  const without_lock unlocked;
  if (o.where.is_gpu()) return multiply_on_gpu<T>(a, in, out, alpha, beta, o, s);
  gemv<T>(static_cast<V>(alpha), a, in, static_cast<V>(beta), out, o);
}

/// `kind`: f64 f32 f16 bf16. The matrix lies at `data`, which furrow/_dense.py holds for the call. `ordinal`: of the
/// GPU that multiplies, -1 for the CPU. `s`: where everything lies on that GPU.
void product(const std::string& kind, std::uintptr_t data, index_t rows, index_t cols, index_t leading, bool by_columns,
             const nb::object& x, const nb::object& y, double alpha, double beta, bool transposed, int ordinal,
             stream s) {
  const auto call = [&]<class T>(T) {
    multiply<T>(data, {rows, cols}, leading, by_columns, x, y, alpha, beta, transposed, ordinal, s);
  };
  if (kind == "f64") call(double{});
  else if (kind == "f32") call(float{});
  else if (kind == "f16") call(half{});
  else call(bfloat16{});
}

} // namespace

void bind_dense(nb::module_& m) { m.def("gemv", &product); }

} // namespace furrow::python
