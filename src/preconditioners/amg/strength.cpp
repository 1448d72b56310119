// SPDX-License-Identifier: BSD-3-Clause
#include "strength.hpp"

#include "matrix/row_accumulator.hpp"

#include <cmath>

namespace furrow::amg {
namespace {

constexpr double piece_entries = 1 << 14;

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

/// Finds the strong couplings of one node after the other; a thread has one.
class couplings {
public:
  couplings(const node_matrix& m, const host_array<double>& scale, double theta)
      : m_(m), scale_(scale), theta_(theta), squares_(m.block == 1 ? 0 : m.nodes()) {}

  /// f(j, weight) for each strong coupling of node i, j ascending.
  template <class F> void each(index_t i, F f) {
    const auto test = [&](std::int32_t j, double weight) {
      if (weight >= theta_ && j != i) f(j, static_cast<float>(weight));
    };
    if (m_.block == 1) {
      for (index_t k = m_.a.begin(i); k < m_.a.end(i); ++k)
        test(m_.a.col[k], std::abs(m_.a.val[k] * scale_[i] * scale_[m_.a.col[k]]));
      return;
    }
    squares_.open();
    for (index_t k = m_.a.begin(i * m_.block); k < m_.a.begin((i + 1) * m_.block); ++k) {
      const std::int32_t j = m_.a.col[k] / m_.block;
      const double x = m_.a.val[k] * scale_[i] * scale_[j];
      squares_.add(j, x * x);
    }
    squares_.sort();
    for (index_t k = 0; k < squares_.size(); ++k) test(squares_.col(k), std::sqrt(squares_.sum(k)));
  }

private:
  const node_matrix& m_;
  const host_array<double>& scale_;
  double theta_;
  row_accumulator squares_; ///< of blocks
};

} // namespace

strong_graph strong_couplings(const node_matrix& m, double theta) {
  const auto scale = scales_of(m);
  const auto cuts = cut_by_weight(m.nodes(), work_of_piece(double(m.a.nnz()), piece_entries), [&](index_t i) {
    return double(m.a.begin((i + 1) * m.block) - m.a.begin(i * m.block) + 1);
  });
  pool<couplings> finders;
  const auto for_each_node = [&](auto f) {
    cpu::for_each_task(static_cast<index_t>(cuts.size()) - 1, [&](index_t k) {
      auto finder = finders.take([&] { return std::make_unique<couplings>(m, scale, theta); });
      for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) f(*finder, i);
      finders.put(std::move(finder));
    });
  };
  strong_graph g{{host_array<index_t>(m.nodes() + 1), {}, {}}};
  g.first[0] = 0;
  for_each_node([&](couplings& c, index_t i) {
    index_t count = 0;
    c.each(i, [&](std::int32_t, float) { ++count; });
    g.first[i + 1] = count;
  });
  for (index_t i = 0; i < m.nodes(); ++i) g.first[i + 1] += g.first[i];
  g.to.resize(g.first[m.nodes()]);
  g.weight.resize(g.first[m.nodes()]);
  for_each_node([&](couplings& c, index_t i) {
    index_t at = g.first[i];
    c.each(i, [&](std::int32_t j, float weight) { g.to[at] = j, g.weight[at++] = weight; });
  });
  return g;
}

} // namespace furrow::amg
