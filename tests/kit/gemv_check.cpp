// SPDX-License-Identifier: BSD-3-Clause
#include "gemv_check.hpp"

namespace furrow::kit {

template <class T> void fill_with_oracle(T* a, const gemv_case& q, index_t b) {
  T value[11]; // those of oracle_a, by the remainder
  for (index_t k = 0; k < 11; ++k) value[k] = T(float(k - 5));
  const index_t length = q.by_rows() ? q.shape.cols : q.shape.rows, step = q.by_rows() ? 13 % 11 : 7;
  for (index_t line = 0; line < q.lines(); ++line) {
    index_t at = q.by_rows() ? 7 * (line + b) % 11 : (7 * b + 13 * line) % 11;
    for (T *to = a + line * q.leading(), *const end = to + length; to != end; ++to) {
      *to = value[at];
      at = at + step < 11 ? at + step : at + step - 11;
    }
  }
}

template void fill_with_oracle(double*, const gemv_case&, index_t);
template void fill_with_oracle(float*, const gemv_case&, index_t);
template void fill_with_oracle(half*, const gemv_case&, index_t);
template void fill_with_oracle(bfloat16*, const gemv_case&, index_t);

} // namespace furrow::kit
