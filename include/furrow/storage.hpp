// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

/// What every format gets from its member `map`, which names its arrays once: views, moves between memories, bytes.
namespace furrow {

/// The same matrix as views of its arrays.
template <class F> auto view_of(const F& a) {
  return a.template map<cview>([](const auto& array) { return as_cview(array); });
}

/// A copy in the memory of the current GPU.
template <class F> auto upload(const F& a) {
  return a.template map<gpu_array>([]<class T>(const host_array<T>& array) { return gpu_array<T>(array); });
}

template <class T> host_array<T> to_host(const gpu_array<T>& a) { return host_array<T>(a); }

/// A copy in host memory. Waits.
template <class F> auto download(const F& a) {
  return a.template map<host_array>([](const auto& array) { return to_host(array); });
}

/// Bytes of all arrays.
template <class F> double byte_count(const F& a) {
  double total = 0;
  a.template map<cview>([&](const auto& array) {
    total += static_cast<double>(array.byte_count());
    return as_cview(array);
  });
  return total;
}

} // namespace furrow
