// SPDX-License-Identifier: BSD-3-Clause
#include "chebyshev_check.hpp"

#include "random.hpp"

#include <algorithm>
#include <cmath>

namespace furrow::kit {

using namespace chebyshev;

std::vector<chebyshev_case> chebyshev_battery(index_t longest) {
  const index_t sizes[][2] = {{1, 1},      {1, 7},       {7, 1},    {2, 2},     {3, 4},       {31, 33},
                              {64, 64},    {100, 5},     {5, 100},  {129, 127}, {256, 256},   {300, 700},
                              {1000, 200}, {1281, 1279}, {3, 2600}, {2600, 3},  {1537, 1535}, {2000, 1999}};
  std::vector<chebyshev_case> cases;
  std::uint64_t seed = 1;
  for (const auto& n : sizes) {
    if (std::max(n[0], n[1]) > longest) continue;
    cases.push_back({"random", random_vector<double>(n[0], seed), random_vector<double>(n[1], seed + 1)});
    seed += 2;
  }
  const index_t n = std::min<index_t>(longest, 150);
  for (const double ratio : {0.8, 1.25}) {
    chebyshev_case c{ratio < 1 ? "decaying" : "growing", random_vector<double>(n, seed),
                     random_vector<double>(n, seed)};
    for (index_t i = 0; i < n; ++i) {
      c.a[i] *= std::pow(ratio, double(i));
      c.b[i] *= std::pow(ratio, double(n - i));
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

template <class V> chebyshev_truth multiply_in_long_double(cview<V> a, cview<V> b, convention series, index_t keep) {
  const index_t all = a.size + b.size - 1;
  chebyshev_truth t{std::vector<long double>(std::max(all, keep)), std::vector<long double>(std::max(all, keep))};
  const auto at = [&](cview<V> x, index_t i) {
    return static_cast<long double>(x[i]) * (i == 0 && series == convention::primed ? 0.5L : 1.0L);
  };
  for (index_t i = 0; i < a.size; ++i)
    for (index_t j = 0; j < b.size; ++j) {
      const long double half = at(a, i) * at(b, j) / 2;
      for (const index_t k : {i + j, std::abs(i - j)}) {
        t.value[k] += half;
        t.size[k] += std::fabs(half);
      }
    }
  if (series == convention::primed) t.value[0] *= 2, t.size[0] *= 2;
  t.value.resize(keep);
  t.size.resize(keep);
  return t;
}

template chebyshev_truth multiply_in_long_double(cview<double>, cview<double>, convention, index_t);
template chebyshev_truth multiply_in_long_double(cview<float>, cview<float>, convention, index_t);

} // namespace furrow::kit
