// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow::io {

/// Whether `write_matrix` asks if a matrix equals its transpose, for which it takes 8 bytes a row. Of one with far more
/// rows than entries it does not: that would take more than all the rest.
constexpr bool may_be_symmetric(shape2 shape, index_t nnz) {
  return shape.rows == shape.cols && shape.rows <= 4 * nnz + 1024;
}

} // namespace furrow::io
