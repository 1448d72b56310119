// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dense.hpp"

#include <fmt/format.h>

#include <string>

namespace furrow {

/// The first promise of dense.hpp that `a` breaks, or nothing.
template <class V> std::string violation(const dense_matrix<V, host_array>& a) {
  if (a.val.size() != a.shape.rows * a.shape.cols)
    return fmt::format("{} values for {} x {}", a.val.size(), a.shape.rows, a.shape.cols);
  return {};
}

} // namespace furrow
