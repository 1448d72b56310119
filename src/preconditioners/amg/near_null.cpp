// SPDX-License-Identifier: BSD-3-Clause
#include "near_null.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace furrow::amg {
namespace {

constexpr double rounded_away = 1e-10; ///< of the norm of a vector: what rounding leaves of a dependent one

/// Nodes by aggregate, ascending.
struct members {
  host_array<index_t> first;
  host_array<std::int32_t> node;

  explicit members(const aggregates& g) : first(g.count + 1, 0) {
    for (const std::int32_t a : g.of)
      if (a >= 0) ++first[a + 1];
    for (index_t k = 0; k < g.count; ++k) first[k + 1] += first[k];
    node.resize(first[g.count]);
    host_array<index_t> next(first);
    for (index_t i = 0; i < g.of.size(); ++i)
      if (g.of[i] >= 0) node[next[g.of[i]]++] = static_cast<std::int32_t>(i);
  }
};

/// The vectors over one aggregate, column by column.
class columns {
public:
  columns(index_t rows, int count)
      : rows_(rows), count_(count), at_(static_cast<std::size_t>(rows * count)),
        factor_(static_cast<std::size_t>(count * count), 0.0) {}
  double& at(index_t row, int q) { return at_[static_cast<std::size_t>(q * rows_ + row)]; }
  double factor(int row, int q) const { return factor_[row * count_ + q]; }

  void make_orthonormal() {
    for (int q = 0; q < count_; ++q) {
      const double whole = std::sqrt(dot(q, q));
      for (int twice = 0; twice < 2; ++twice)
        for (int p = 0; p < q; ++p) {
          const double along = dot(p, q);
          for (index_t i = 0; i < rows_; ++i) at(i, q) -= along * at(i, p);
          factor_[p * count_ + q] += along;
        }
      const double left = std::sqrt(dot(q, q));
      const bool dropped = !(left > rounded_away * whole);
      for (index_t i = 0; i < rows_; ++i) at(i, q) = dropped ? 0 : at(i, q) / left;
      factor_[q * count_ + q] = dropped ? 0 : left;
    }
  }

private:
  double dot(int p, int q) {
    double sum = 0;
    for (index_t i = 0; i < rows_; ++i) sum += at(i, p) * at(i, q);
    return sum;
  }
  index_t rows_;
  int count_;
  std::vector<double> at_, factor_;
};

} // namespace

near_null rigid_motions(cview<double> points, int dims) {
  const index_t nodes = points.size / dims;
  std::array<double, 3> middle{};
  for (index_t i = 0; i < nodes; ++i)
    for (int d = 0; d < dims; ++d) middle[d] += points[i * dims + d] / double(nodes);
  double farthest = 0;
  for (index_t i = 0; i < nodes; ++i)
    for (int d = 0; d < dims; ++d) farthest = std::max(farthest, std::abs(points[i * dims + d] - middle[d]));
  const double scale = farthest > 0 ? 1 / farthest : 1;
  near_null v{rigid_motions_in(dims), {}};
  v.of_rows = host_array<double>(nodes * dims * v.count, 0.0);
  cpu::for_each_range(nodes, 1 << 12, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      double* const row = v.of_rows.data() + i * dims * v.count; // dims rows of `count`
      double x[3] = {};
      for (int d = 0; d < dims; ++d) {
        x[d] = (points[i * dims + d] - middle[d]) * scale;
        row[d * v.count + d] = 1;
      }
      if (dims == 2) row[2] = -x[1], row[v.count + 2] = x[0];
      else
        for (int turn = 0; turn < 3; ++turn) { // about direction `turn`
          const int u = (turn + 1) % 3, w = (turn + 2) % 3;
          row[u * v.count + 3 + turn] = -x[w], row[w * v.count + 3 + turn] = x[u];
        }
    }
  });
  return v;
}

tentative orthonormal_over(const aggregates& g, int block, const near_null& vectors) {
  const members in(g);
  const int count = vectors.count;
  tentative t{host_array<double>(vectors.of_rows.size(), 0.0), {count, host_array<double>(g.count * count * count)}};
  cpu::for_each_range(g.count, 1 << 6, [&](index_t from, index_t to) {
    for (index_t k = from; k < to; ++k) {
      const index_t nodes = in.first[k + 1] - in.first[k];
      columns v(nodes * block, count);
      const auto each = [&](auto f) {
        for (index_t i = 0; i < nodes * block; ++i)
          for (int q = 0; q < count; ++q)
            f(v.at(i, q), (in.node[in.first[k] + i / block] * index_t(block) + i % block) * count + q);
      };
      each([&](double& to_column, index_t at) { to_column = vectors.of_rows[at]; });
      v.make_orthonormal();
      each([&](double& from_column, index_t at) { t.rows[at] = from_column; });
      for (int p = 0; p < count; ++p)
        for (int q = 0; q < count; ++q) t.coarse.of_rows[(k * count + p) * count + q] = v.factor(p, q);
    }
  });
  return t;
}

void secure_lost_rows(row_matrix<double>& coarse, const tentative& p0) {
  const int count = p0.coarse.count;
  const auto diagonal = [&](index_t i) -> double& {
    const std::int32_t* const col = coarse.col.data();
    return coarse.val[std::lower_bound(col + coarse.row_ptr[i], col + coarse.row_ptr[i + 1], i) - col];
  };
  cpu::for_each_range(coarse.shape.rows / count, 1 << 10, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      double most = 0;
      for (int q = 0; q < count; ++q) most = std::max(most, diagonal(k * count + q));
      for (int q = 0; q < count; ++q)
        if (p0.is_lost(k, q)) diagonal(k * count + q) = most;
    }
  });
}

} // namespace furrow::amg
