// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define FURROW_HD __host__ __device__
#else
#define FURROW_HD
#endif

namespace furrow {

/// Sizes, positions and offsets. Column indices inside a format are 32 bits wide.
using index_t = std::int64_t;

/// What holds elements of type T one after another: std::vector, std::span, std::array, host_array, `double x[3]`.
template <class R, class T>
concept contiguous_of = requires(R& r) {
  { std::size(r) } -> std::convertible_to<index_t>;
  requires std::is_convertible_v < std::remove_pointer_t<decltype(std::data(r))>(*)
  [], T(*)[] > ;
};

/// What a view of T may be made of: a temporary only where its elements are read or are not its own.
template <class R, class T>
concept viewable_as = contiguous_of<R, T> &&
    (std::is_lvalue_reference_v<R> || std::is_const_v<T> || std::ranges::enable_borrowed_range<R>);

/// Non-owning [data, data + size). Trivially copyable, usable in kernels; says nothing about which memory it is in.
/// Whatever holds T one after another goes where a view is asked for; a temporary only where its elements are read
/// (`view<const T>`) or are not its own (std::span).
template <class T> struct view {
  T* data = nullptr;
  index_t size = 0;

  view() = default;
  FURROW_HD view(T* data, index_t size) : data(data), size(size) {}
  template <class U>
  requires std::is_same_v<const U, T> FURROW_HD view(view<U> v) : data(v.data), size(v.size) {}
  template <class R>
  requires viewable_as<R, T> view(R&& r) // NOLINT(bugprone-forwarding-reference-overload): a view is no such R
      : data(std::data(r)), size(static_cast<index_t>(std::size(r))) {}

  FURROW_HD T& operator[](index_t i) const { return data[i]; }
  FURROW_HD T* begin() const { return data; }
  FURROW_HD T* end() const { return data + size; }
  FURROW_HD bool empty() const { return size == 0; }
};

/// A view that does not write. A type of its own, because nvcc mixes up an alias and its target as template arguments.
template <class T> struct cview : view<const T> {
  using view<const T>::view;
  cview() = default;
  FURROW_HD cview(view<const T> v) : view<const T>(v) {}
  FURROW_HD cview(view<T> v) : view<const T>(v) {}
};

/// `count` elements of `v` from `first` on.
template <class T> FURROW_HD view<T> part(view<T> v, index_t first, index_t count) { return {v.data + first, count}; }

/// Whether two views share memory.
template <class T, class U> bool overlap(view<T> a, view<U> b) {
  const auto *a0 = reinterpret_cast<const char*>(a.begin()), *a1 = reinterpret_cast<const char*>(a.end());
  const auto *b0 = reinterpret_cast<const char*>(b.begin()), *b1 = reinterpret_cast<const char*>(b.end());
  return !a.empty() && !b.empty() && a0 < b1 && b0 < a1;
}

static_assert(std::is_trivially_copyable_v<view<int>>);

/// Rows and columns.
struct shape2 {
  index_t rows = 0, cols = 0;
  friend bool operator==(shape2, shape2) = default;
};

} // namespace furrow
