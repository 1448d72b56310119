// SPDX-License-Identifier: BSD-3-Clause
#include "strength.hpp"

#include "matrix/row_accumulator.hpp"

#include <cmath>

namespace furrow::amg {
namespace {

constexpr double piece_entries = 1 << 17;

std::vector<index_t> cut_nodes(const node_matrix& m) {
  return cut_by_weight(m.nodes(), piece_entries,
                       [&](index_t i) { return double(m.a.begin((i + 1) * m.block) - m.a.begin(i * m.block) + 1); });
}

/// Couplings of some nodes.
struct couplings {
  std::vector<std::int32_t> to, length;
  std::vector<float> weight;

  void keep(const strength& s, double norm, index_t i, std::int32_t j) {
    if (i == j || !s.strong(norm, i, j)) return;
    to.push_back(j);
    weight.push_back(static_cast<float>(norm / s.size[i] / s.size[j]));
  }
  void close() { length.push_back(static_cast<std::int32_t>(to.size())); } // so far: differences come later
};

void couple_rows(const node_matrix& m, const strength& s, index_t first, index_t last, couplings& found) {
  for (index_t i = first; i < last; ++i) {
    for (index_t k = m.a.begin(i); k < m.a.end(i); ++k) found.keep(s, std::abs(m.a.val[k]), i, m.a.col[k]);
    found.close();
  }
}

void couple_blocks(const node_matrix& m, const strength& s, index_t first, index_t last, couplings& found,
                   row_accumulator& norms) {
  for (index_t i = first; i < last; ++i) {
    norms.open();
    for (index_t k = m.a.begin(i * m.block); k < m.a.begin((i + 1) * m.block); ++k)
      norms.add(m.a.col[k] / m.block, m.a.val[k] * m.a.val[k]);
    norms.sort();
    for (index_t k = 0; k < norms.size(); ++k) found.keep(s, std::sqrt(norms.sum(k)), i, norms.col(k));
    found.close();
  }
}

} // namespace

host_array<double> node_sizes(const node_matrix& m) {
  host_array<double> size(m.nodes());
  cpu::for_each_range(m.nodes(), 1 << 12, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      double squares = 0;
      for (index_t k = m.a.begin(i * m.block); k < m.a.begin((i + 1) * m.block); ++k)
        if (m.a.col[k] / m.block == i) squares += m.a.val[k] * m.a.val[k];
      size[i] = std::sqrt(std::sqrt(squares));
    }
  });
  return size;
}

strong_graph strong_couplings(const node_matrix& m, const strength& s) {
  const auto cuts = cut_nodes(m);
  const auto pieces = static_cast<index_t>(cuts.size()) - 1;
  std::vector<couplings> found(static_cast<std::size_t>(pieces));
  pool<row_accumulator> rows;
  cpu::for_each_task(pieces, [&](index_t k) {
    if (m.block == 1) return couple_rows(m, s, cuts[k], cuts[k + 1], found[k]);
    auto row = rows.take([&] { return std::make_unique<row_accumulator>(m.nodes()); });
    couple_blocks(m, s, cuts[k], cuts[k + 1], found[k], *row);
    rows.put(std::move(row));
  });
  std::vector<index_t> begin{0};
  for (const auto& f : found) begin.push_back(begin.back() + static_cast<index_t>(f.to.size()));
  strong_graph g{host_array<index_t>(m.nodes() + 1), host_array<std::int32_t>(begin.back()),
                 host_array<float>(begin.back())};
  g.first[0] = 0;
  cpu::for_each_task(pieces, [&](index_t k) {
    const couplings f = std::move(found[k]);
    std::copy(f.to.begin(), f.to.end(), g.to.data() + begin[k]);
    std::copy(f.weight.begin(), f.weight.end(), g.weight.data() + begin[k]);
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) g.first[i + 1] = begin[k] + f.length[i - cuts[k]];
  });
  return g;
}

} // namespace furrow::amg
