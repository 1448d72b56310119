// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// Whether a vector that is read shares memory with one that is written, without being it.
template <class V> bool crosses(cview<V> read, view<V> written) {
  return read.data != written.data && overlap(read, as_cview(written));
}

} // namespace furrow
