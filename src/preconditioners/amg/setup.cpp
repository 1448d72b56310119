// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include "core/blocks.hpp"
#include "host_kit.hpp"

namespace furrow::amg {
namespace {

constexpr double most_fill_of_blocks = 1.3;

} // namespace

int unknowns_of_a_node(row_view<double> a, cview<std::int32_t> row_of_entry) {
  return unknowns_of_a_node(a.shape.rows, a.nnz(), count_blocks(a.shape, row_of_entry, a.col));
}

double fill_of_blocks(row_view<double> a, cview<std::int32_t> row_of_entry, int k) {
  return double(count_blocks_of(k, a.shape, row_of_entry, a.col)) * k * k / double(a.nnz());
}

int unknowns_of_a_node(index_t rows, index_t nnz, const std::array<index_t, 9>& blocks) {
  const auto fill = [&](int k) {
    const bool fits = rows % k == 0 && blocks[k] > 0;
    return fits ? double(blocks[k]) * k * k / double(nnz) : 1e300;
  };
  double least = 1e300;
  for (int k = 2; k <= 6; ++k) least = std::min(least, fill(k));
  if (least > most_fill_of_blocks) return 1;
  int best = 1;
  for (int k = 2; k <= 6; ++k)
    if (fill(k) <= 1.02 * least) best = k;
  return best;
}

template <class W> hierarchy<W> smoothed_aggregation(row_view<double> a, int block) {
  aggregation_kit kit(a, block);
  return build_levels<W, host_array>(kit);
}

template <class W> hierarchy<W> smoothed_aggregation(row_view<double> a, int block, near_null vectors) {
  near_null_kit kit(a, block, std::move(vectors));
  return build_levels<W, host_array>(kit);
}

template <class W> hierarchy<W> pairwise_aggregation(row_view<double> a) {
  pairwise_kit kit(a, 1);
  return build_levels<W, host_array>(kit);
}

template <class W> hierarchy<W> nonsymmetric_aggregation(row_view<double> a) {
  nonsymmetric_kit kit(a);
  return build_levels<W, host_array>(kit);
}

template hierarchy<double> nonsymmetric_aggregation(row_view<double>);
template hierarchy<float> nonsymmetric_aggregation(row_view<double>);
template hierarchy<double> pairwise_aggregation(row_view<double>);
template hierarchy<float> pairwise_aggregation(row_view<double>);
template hierarchy<double> smoothed_aggregation(row_view<double>, int);
template hierarchy<float> smoothed_aggregation(row_view<double>, int);
template hierarchy<double> smoothed_aggregation(row_view<double>, int, near_null);
template hierarchy<float> smoothed_aggregation(row_view<double>, int, near_null);

} // namespace furrow::amg
