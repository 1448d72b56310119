// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <vector>

namespace furrow::cpu {

/// `count` numbers of the calling thread, uninitialised, good until it asks for this `Use` again: what a product keeps
/// beside its vectors. In place of a member of the operator, so that one operator serves several threads at once.
template <class T, class Use> T* scratch(index_t count) {
  thread_local std::vector<T> kept;
  if (static_cast<index_t>(kept.size()) < count) kept.resize(static_cast<std::size_t>(count));
  return kept.data();
}

} // namespace furrow::cpu
