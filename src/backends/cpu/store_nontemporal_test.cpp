// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/store_nontemporal.hpp"

#include <furrow/array.hpp>

#include <gtest/gtest.h>

namespace furrow::cpu {
namespace {

template <class V> void copies_just_what_it_should() {
  const index_t room = 80;
  for (index_t first = 0; first < 9; ++first)
    for (index_t n = 0; n < 70; ++n) {
      host_array<V> from(room), to(room, V(-1));
      for (index_t k = 0; k < room; ++k) from[k] = V(k);
      store_nontemporal(to.data() + first, from.data() + 1, n);
      for (index_t k = 0; k < room; ++k)
        ASSERT_EQ(to[k], k < first || k >= first + n ? V(-1) : V(k - first + 1)) << first << ' ' << n << ' ' << k;
    }
}

TEST(store_nontemporal, copies_any_length_to_any_place) {
  copies_just_what_it_should<double>();
  copies_just_what_it_should<float>();
}

} // namespace
} // namespace furrow::cpu
