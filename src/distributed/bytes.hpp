// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>

#include <type_traits>
#include <vector>

namespace furrow {

/// Elements as bytes that a communicator carries.
template <class T> cview<std::byte> bytes_of(cview<T> v) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const std::byte*>(v.data), v.size * index_t(sizeof(T))};
}
template <class T> view<std::byte> bytes_of(view<T> v) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
  return {reinterpret_cast<std::byte*>(v.data), v.size * index_t(sizeof(T))};
}

/// What each rank has, in their order.
template <class T> std::vector<T> gather_each(communicator& c, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(c.size()));
  c.gather_all(bytes_of(cview<T>(&mine, 1)), bytes_of(view<T>(all)));
  return all;
}

} // namespace furrow
