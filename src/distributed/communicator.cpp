// SPDX-License-Identifier: BSD-3-Clause
#include "bytes.hpp"

#include <algorithm>

namespace furrow {

void communicator::sum(view<double> values) {
  if (size() == 1) return;
  const index_t n = values.size;
  all_.resize(static_cast<std::size_t>(n * size()));
  gather_all(bytes_of(cview<double>(values)), bytes_of(view<double>(all_)));
  for (index_t k = 0; k < n; ++k) {
    double total = all_[static_cast<std::size_t>(k)];
    for (index_t r = 1; r < size(); ++r) total += all_[static_cast<std::size_t>(r * n + k)];
    values[k] = total;
  }
}

double communicator::sum(double value) {
  sum({&value, 1});
  return value;
}

double communicator::max(double value) { return std::ranges::max(gather_each(*this, value)); }

bool communicator::any(bool mine) { return std::ranges::count(gather_each(*this, char(mine)), char(true)) > 0; }

double communicator::of_first(double value) { return gather_each(*this, value).front(); }

} // namespace furrow
