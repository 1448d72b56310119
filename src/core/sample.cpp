// SPDX-License-Identifier: BSD-3-Clause
#include "sample.hpp"

#include "blocks.hpp"
#include "locality.hpp"
#include "look.hpp"

#include <furrow/coo.hpp>

#include <algorithm>
#include <utility>

namespace furrow {

namespace {

std::vector<row_range> merged(std::vector<row_range> all) {
  std::ranges::sort(all, {}, &row_range::first);
  std::vector<row_range> apart;
  for (const row_range& r : all) {
    if (r.count <= 0) continue;
    if (apart.empty() || apart.back().first + apart.back().count < r.first) apart.push_back(r);
    else apart.back().count = std::max(apart.back().count, r.first + r.count - apart.back().first);
  }
  return apart;
}

} // namespace

std::vector<row_range> rows_of_statistics(const stats& s) {
  const index_t rows = s.shape.rows;
  std::vector<row_range> all = ranges_of(windows_of_locality(s));
  const auto add = [&](const std::vector<row_range>& some) { all.insert(all.end(), some.begin(), some.end()); };
  for (const format_look* look : format_looks()) add(look->rows(s));
  if (s.nnz >= blocks_sampled_from) add(rows_of_block_sample(rows));
  return merged(std::move(all));
}

std::vector<row_range> rows_of_values(const stats& s) {
  std::vector<row_range> all;
  for (const format_look* look : format_looks()) {
    if (!look->values) continue;
    const auto some = look->rows(s);
    all.insert(all.end(), some.begin(), some.end());
  }
  return merged(std::move(all));
}

template <class Triplets> void measure_samples(const Triplets& a, stats& s) {
  s.near = measure_locality(a, s);
  s.estimates.clear();
  for (const format_look* look : format_looks()) s.estimates.push_back({look->format, look->at(sight_of(a), s)});
}

template void measure_samples(const coo<double>&, stats&);
template void measure_samples(const coo<float>&, stats&);
template void measure_samples(const borrowed_rows<double>&, stats&);
template void measure_samples(const borrowed_rows<float>&, stats&);

} // namespace furrow
