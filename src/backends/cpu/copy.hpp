// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "parallel.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// An array of the same elements, each part first touched by the thread that copies it.
template <class T> host_array<T> copy_of(cview<T> from) {
  host_array<T> to(from.size);
  cpu::for_each_range(from.size, 1 << 15, [&](index_t first, index_t last) {
    host_memory::copy(to.data() + first, from.data + first, static_cast<std::size_t>(last - first) * sizeof(T));
  });
  return to;
}

} // namespace furrow
