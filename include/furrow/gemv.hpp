// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/half.hpp>
#include <furrow/storage_order.hpp>
#include <furrow/view.hpp>

#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

/// Dense matrix times vector, for matrices of any shape in the caller's own memory.
namespace furrow {

/// A[i, j] is data[i * leading + j] in row-major order, data[i + j * leading] in column-major order. What lies between
/// the end of a row (a column) and the next one is never used.
template <class T> struct dense_view {
  const T* data = nullptr;
  shape2 shape;
  index_t leading = 0;
  storage_order order = storage_order::row_major;
};

/// `count` vectors of `size` elements: element i of vector r is data[i * stride + r * next]. `data` points to element 0
/// of the first vector whatever the signs. What a `view` can be made of is one vector without gaps.
template <class V> struct vectors {
  V* data = nullptr;
  index_t size = 0, stride = 1, count = 1, next = 0;

  vectors() = default;
  vectors(V* data, index_t size, index_t stride = 1, index_t count = 1, index_t next = 0)
      : data(data), size(size), stride(stride), count(count), next(next) {}
  vectors(view<V> v) : data(v.data), size(v.size) {}
  template <class R>
  requires std::is_convertible_v<R, view<V>> vectors(R&& r) // NOLINT(bugprone-forwarding-reference-overload): no view
      : vectors(view<V>(std::forward<R>(r))) {}
  template <class U>
  requires std::is_same_v<const U, V> vectors(const vectors<U>& v)
      : data(v.data), size(v.size), stride(v.stride), count(v.count), next(v.next) {}
};

/// Vectors and factors of a matrix of T: double for double, float for float, half and bfloat16.
template <class T> using vector_value = std::conditional_t<std::is_same_v<T, double>, double, float>;

struct gemv_options {
  bool transposed = false; ///< op(A) is A transposed
  bool f64_sums = false;   ///< a matrix of float: products and sums in double
  device where{};          ///< whose memory all pointers point to; a GPU must be selected
  std::string_view kernel = "auto";
};

/// Problems of one shape. Pointers are `step` elements apart, or, where a list is given, come from the list, which lies
/// in the memory of the device.
template <class T> struct gemv_batch {
  index_t count = 1;
  index_t a_step = 0, x_step = 0, y_step = 0; ///< a_step and x_step may be 0: shared by all
  const T* const* a_list = nullptr;
  const vector_value<T>* const* x_list = nullptr;
  vector_value<T>* const* y_list = nullptr;
};

/// y <- alpha op(A) x + beta y, op(A) = A or A transposed, for 1 to 8 vectors x and as many y.
///
/// A: m x n of double, float, half or bfloat16. x: n elements (m where transposed), y: m (n). Any leading dimension
/// from the length of a row (a column) on, any alignment, any stride but 0, negative ones too; sizes may be 0 and their
/// products may pass 2^31. The memory from the first to the last element of y, gaps included, must not overlap that of
/// x, and y must not overlap itself; pointers that come in lists are not compared.
/// beta == 0: y is not read. alpha == 0: neither A nor x is read.
/// Cost: one pass over A, however many vectors. Bytes: A, x and y once.
/// Products and sums in double for double; otherwise in float, or in double with `f64_sums`. The same bits on every
/// run and for any number of threads: sums are split by the shape and the alignment alone.
/// On a GPU the call only enqueues. On the host it returns when y is there.
/// Throws `fault::usage` for arguments that do not fit.
///
/// The loads of a matrix are all there is to optimise here: see docs/gemv.md.
template <class T>
void gemv(std::type_identity_t<vector_value<T>> alpha, const dense_view<T>& a,
          const std::type_identity_t<vectors<const vector_value<T>>>& x, std::type_identity_t<vector_value<T>> beta,
          const std::type_identity_t<vectors<vector_value<T>>>& y, const gemv_options& options = {},
          const std::type_identity_t<gemv_batch<T>>& batch = {});

/// Names of the kernels of a device, for people and for `gemv_options::kernel`.
struct gemv_kernel {
  std::string_view name, about;
  bool across = false;     ///< adds the lines of memory up; otherwise it sums along them
  bool one_vector = false; ///< serves one vector only
};
std::span<const gemv_kernel> gemv_kernels(device where);

} // namespace furrow
