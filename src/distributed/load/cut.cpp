// SPDX-License-Identifier: BSD-3-Clause
#include "cut.hpp"

namespace furrow {

std::vector<index_t> sum_each(communicator& c, const std::vector<index_t>& mine) {
  const std::size_t n = mine.size();
  std::vector<index_t> all(n * static_cast<std::size_t>(c.size())), sum(n, 0);
  c.gather_all(bytes_of(cview<index_t>(mine)), bytes_of(view<index_t>(all)));
  for (std::size_t k = 0; k < all.size(); ++k) sum[k % n] += all[k];
  return sum;
}

} // namespace furrow
