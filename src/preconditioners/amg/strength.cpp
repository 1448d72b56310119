// SPDX-License-Identifier: BSD-3-Clause
#include "strength.hpp"

#include "matrix/row_accumulator.hpp"

#include <cmath>

namespace furrow::amg {
namespace {

constexpr double entries_of_strength = 1 << 14;

/// |A_ii|^-1/2 of node i; 0 where A_ii is 0 or not there.
double scale_of(const node_matrix& m, index_t i) {
  double largest = 0, squares = 0;
  const auto each = [&](auto f) {
    for (index_t k = m.a.begin(i * m.block); k < m.a.begin((i + 1) * m.block); ++k)
      if (m.a.col[k] / m.block == i) f(m.a.val[k]);
  };
  each([&](double v) { largest = std::max(largest, std::abs(v)); });
  if (m.block == 1 || largest == 0) return largest > 0 ? 1 / std::sqrt(largest) : 0;
  each([&](double v) { squares += v / largest * (v / largest); });
  return 1 / (std::sqrt(largest) * std::sqrt(std::sqrt(squares)));
}

host_array<double> scales_of(const node_matrix& m) {
  host_array<double> scale(m.nodes());
  cpu::for_each_range(m.nodes(), 1 << 12, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) scale[i] = scale_of(m, i);
  });
  return scale;
}

/// Where a node is a row: a pass that counts and one that fills, without an answer of the first being kept: twice the
/// products are half of what copies of the couplings take.
strong_graph couplings_of_rows(row_view<double> a, const host_array<double>& scale, double theta, index_t below) {
  const auto weight_of = [&](index_t i, index_t k) {
    return a.col[k] < below ? std::abs(a.val[k] * scale[i] * scale[a.col[k]]) : -1.0;
  };
  const auto for_each_row = [&](auto f) {
    cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  };
  strong_graph g{{host_array<index_t>(a.shape.rows + 1), {}, {}}};
  g.first[0] = 0;
  for_each_row([&](index_t i) {
    index_t count = 0;
    for (index_t k = a.begin(i); k < a.end(i); ++k)
      count += static_cast<index_t>(weight_of(i, k) >= theta) & static_cast<index_t>(a.col[k] != i);
    g.first[i + 1] = count;
  });
  for (index_t i = 0; i < a.shape.rows; ++i) g.first[i + 1] += g.first[i];
  g.to.resize(g.first[a.shape.rows]);
  g.weight.resize(g.first[a.shape.rows]);
  for_each_row([&](index_t i) {
    index_t at = g.first[i];
    for (index_t k = a.begin(i); k < a.end(i); ++k)
      if (const double weight = weight_of(i, k); weight >= theta && a.col[k] != i)
        g.to[at] = a.col[k], g.weight[at++] = static_cast<float>(weight);
  });
  return g;
}

/// squares(j) = |A_ij|^2 of the blocks of node i, scaled, j ascending.
void add_squares(const node_matrix& m, const host_array<double>& scale, index_t i, row_accumulator& squares) {
  squares.open();
  for (index_t k = m.a.begin(i * m.block), end = m.a.begin((i + 1) * m.block); k < end;) {
    const std::int32_t j = m.a.col[k] / m.block, first = j * m.block;
    double& sum = squares.sum(squares.add(j, 0));
    for (; k < end && m.a.col[k] >= first && m.a.col[k] - first < m.block; ++k) { // of a row of the block
      const double x = m.a.val[k] * scale[i] * scale[j];
      sum += x * x;
    }
  }
  squares.sort();
}

strong_graph couplings_of_blocks(const node_matrix& m, const host_array<double>& scale, double theta) {
  const auto cuts = cut_by_weight(m.nodes(), work_of_piece(double(m.a.nnz()), entries_of_strength), [&](index_t i) {
    return double(m.a.begin((i + 1) * m.block) - m.a.begin(i * m.block) + 1);
  });
  pool<row_accumulator> rows;
  std::vector<row_batch<float>> pieces(cuts.size() - 1);
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto squares = rows.take([&] { return std::make_unique<row_accumulator>(m.nodes()); });
    row_batch<float>& found = pieces[k];
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) {
      add_squares(m, scale, i, *squares);
      const index_t before = found.col.size();
      for (index_t l = 0; l < squares->size(); ++l)
        if (const double weight = std::sqrt(squares->sum(l)); weight >= theta && squares->col(l) != i)
          *found.col.more(1) = squares->col(l), *found.val.more(1) = static_cast<float>(weight);
      *found.length.more(1) = static_cast<std::int32_t>(found.col.size() - before);
    }
    rows.put(std::move(squares));
  });
  auto all = stacked<float>({m.nodes(), m.nodes()}, std::move(pieces));
  return {{std::move(all.row_ptr), std::move(all.col), std::move(all.val)}};
}

/// f(column, |a_ij| + |a_ji|) for the places of row i of A or A', ascending.
template <class F> void each_way(row_view<double> a, row_view<double> back, index_t i, F f) {
  index_t k = a.begin(i), l = back.begin(i);
  while (k < a.end(i) || l < back.end(i)) {
    const bool there = k < a.end(i) && (l == back.end(i) || a.col[k] <= back.col[l]);
    const bool here = l < back.end(i) && (k == a.end(i) || back.col[l] <= a.col[k]);
    const std::int32_t col = there ? a.col[k] : back.col[l];
    double size = 0;
    if (there) size += std::abs(a.val[k++]);
    if (here) size += std::abs(back.val[l++]);
    f(col, size);
  }
}

} // namespace

strong_graph couplings_either_way(row_view<double> a, row_view<double> back, double theta) {
  const auto scale = scales_of({a, 1});
  const index_t n = a.shape.rows;
  strong_graph g{{host_array<index_t>(n + 1), {}, {}}};
  const auto each_strong = [&](index_t i, auto f) {
    each_way(a, back, i, [&](std::int32_t j, double size) {
      const double weight = size / 2 * scale[i] * scale[j];
      if (weight >= theta && j != i) f(j, static_cast<float>(weight));
    });
  };
  const auto for_each_row = [&](auto f) {
    cpu::for_each_range(n, 1 << 12, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  };
  g.first[0] = 0;
  for_each_row([&](index_t i) {
    index_t count = 0;
    each_strong(i, [&](std::int32_t, float) { ++count; });
    g.first[i + 1] = count;
  });
  for (index_t i = 0; i < n; ++i) g.first[i + 1] += g.first[i];
  g.to.resize(g.first[n]), g.weight.resize(g.first[n]);
  for_each_row([&](index_t i) {
    index_t at = g.first[i];
    each_strong(i, [&](std::int32_t j, float weight) { g.to[at] = j, g.weight[at++] = weight; });
  });
  return g;
}

strong_graph strong_couplings(row_view<double> a, const host_array<double>& scale, double theta, index_t below) {
  return couplings_of_rows(a, scale, theta, below);
}

strong_graph strong_couplings(const node_matrix& m, double theta) {
  const auto scale = scales_of(m);
  return m.block == 1 ? couplings_of_rows(m.a, scale, theta, m.a.shape.cols) : couplings_of_blocks(m, scale, theta);
}

} // namespace furrow::amg
