// SPDX-License-Identifier: BSD-3-Clause
#include "rivals/repack.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <map>

namespace furrow::bench {
namespace {

using places = std::map<std::pair<index_t, index_t>, double>;

places places_of(const coo<double>& a) {
  places p;
  for (index_t k = 0; k < a.nnz(); ++k) p[{a.row[k], a.col[k]}] = a.val[k];
  return p;
}

TEST(repack, slices_hold_every_entry_once) {
  for (const char* spec : {"poisson2d:9", "banded:100:5:20", "poisson1d:1", "random:64:7"}) {
    const auto a = generate(spec).a;
    const auto m = to_sliced(a);
    places found;
    const index_t h = sliced<double>::height;
    for (index_t s = 0; s + 1 < m.begin.size(); ++s)
      for (index_t at = m.begin[s]; at < m.begin[s + 1]; ++at) {
        if (m.col[at] >= 0) found[{s * h + (at - m.begin[s]) % h, m.col[at]}] = m.val[at];
        else EXPECT_EQ(m.val[at], 0);
      }
    EXPECT_EQ(found, places_of(a)) << spec;
    EXPECT_EQ(m.begin.size(), (a.shape.rows + h - 1) / h + 1);
  }
}

TEST(repack, blocks_hold_every_entry_once) {
  for (const char* spec : {"elasticity3d:3", "dense:12", "dense:14"}) {
    const auto a = generate(spec).a;
    const auto m = to_blocked(a);
    places found;
    for (index_t r = 0; r + 1 < m.begin.size(); ++r)
      for (index_t b = m.begin[r]; b < m.begin[r + 1]; ++b) {
        EXPECT_TRUE(b == m.begin[r] || m.col[b - 1] < m.col[b]);
        for (index_t k = 0; k < m.size * m.size; ++k)
          found[{r * m.size + k / m.size, m.col[b] * m.size + k % m.size}] = m.val[b * m.size * m.size + k];
      }
    for (const auto& [place, value] : places_of(a)) EXPECT_EQ(found.at(place), value) << spec;
    EXPECT_EQ(a.shape.rows % m.size, 0);
  }
  EXPECT_EQ(to_blocked(generate("elasticity3d:3").a).size, 3);
}

TEST(repack, refuses_what_would_be_mostly_padding) {
  coo<double> a{
      {50000, 50000}, host_array<std::int32_t>(2000, 7), host_array<std::int32_t>(2000), host_array<double>(2000, 1)};
  for (index_t k = 0; k < 2000; ++k) a.col[k] = static_cast<std::int32_t>(k);
  EXPECT_THROW(to_sliced(a), error);
  EXPECT_THROW(to_blocked(generate("poisson1d:11").a), error); // 11 is prime
}

} // namespace
} // namespace furrow::bench
