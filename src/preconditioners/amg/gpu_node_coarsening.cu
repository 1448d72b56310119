// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_node_coarsening.hpp"

#include "gpu_aggregates.hpp"
#include "gpu_lanczos.hpp"
#include "prolongation.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/gpu_row_sums.hpp"

#include <furrow/storage.hpp>

#include <type_traits>
#include <utility>

namespace furrow::amg {
namespace gpu_node_coarsening {

// The diagonal.

/// As `invert_node` of the host: Gauss and Jordan, or the inverse of the diagonal where a pivot is lost.
template <int B> struct invert_node {
  device_view a;
  double* inverse;

  __device__ void operator()(index_t node) const {
    double t[B * B] = {}, own[B];
    for (int r = 0; r < B; ++r) {
      const index_t i = node * B + r;
      for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        for (int c = 0; c < B; ++c)
          if (a.col[k] == node * B + c) t[r * B + c] = a.val[k];
    }
#pragma unroll
    for (int r = 0; r < B; ++r) {
      own[r] = t[r * B + r];
#pragma unroll
      for (int c = 0; c < r; ++c) t[r * B + c] = t[c * B + r] = (t[r * B + c] + t[c * B + r]) / 2;
    }
    const bool done = eliminate(t, own);
    double* const out = inverse + node * B * B;
#pragma unroll
    for (int r = 0; r < B; ++r)
#pragma unroll
      for (int c = 0; c < B; ++c) {
        const double upper = t[(r < c ? r : c) * B + (r < c ? c : r)];
        out[r * B + c] = done ? (r == c ? t[r * B + r] : upper) : (r == c ? 1 / own[r] : 0);
      }
  }

private:
  __device__ static bool eliminate(double* t, const double* own) {
#pragma unroll
    for (int k = 0; k < B; ++k) {
      const double pivot = t[k * B + k];
      if (!(pivot > 1e-12 * own[k])) return false;
      t[k * B + k] = 1;
#pragma unroll
      for (int j = 0; j < B; ++j) t[k * B + j] /= pivot;
#pragma unroll
      for (int i = 0; i < B; ++i) {
        if (i == k) continue;
        const double factor = t[i * B + k];
        t[i * B + k] = 0;
#pragma unroll
        for (int j = 0; j < B; ++j) t[i * B + j] -= gpu::product(factor, t[k * B + j]);
      }
    }
    return true;
  }
};

/// call(B) for a block of 2 to 6.
template <class Call> void with_block(int block, Call call) {
  switch (block) {
  case 2:
    return call(std::integral_constant<int, 2>());
  case 3:
    return call(std::integral_constant<int, 3>());
  case 4:
    return call(std::integral_constant<int, 4>());
  case 5:
    return call(std::integral_constant<int, 5>());
  case 6:
    return call(std::integral_constant<int, 6>());
  default:
    require(false, "nodes have 2 to 6 unknowns");
  }
}

// Strong couplings.

/// |A_ii|^-1/2, Frobenius norms; 0 where A_ii is 0 or not there.
struct scale_of_node {
  device_view a;
  int block;
  double* scale;
  FURROW_HD void operator()(index_t i) const {
    const index_t begin = a.row_ptr[i * block], end = a.row_ptr[(i + 1) * block];
    double largest = 0, squares = 0;
    for (index_t k = begin; k < end; ++k)
      if (a.col[k] / block == i && fabs(a.val[k]) > largest) largest = fabs(a.val[k]);
    for (index_t k = begin; k < end && largest > 0; ++k)
      if (a.col[k] / block == i) squares += gpu::product(a.val[k] / largest, a.val[k] / largest);
    scale[i] = largest > 0 ? 1 / (sqrt(largest) * sqrt(sqrt(squares))) : 0;
  }
};

/// Rows of the graph of nodes.
struct squares_of_node {
  static constexpr index_t usual_length = 32;
  device_view a;
  int block;
  const double* scale;

  FURROW_HD index_t most_entries(index_t i) const {
    const index_t entries = a.row_ptr[(i + 1) * block] - a.row_ptr[i * block], nodes = a.shape.rows / block;
    return entries < nodes ? entries : nodes;
  }
  template <bool Values, class Lanes, class F> FURROW_HD void each(const Lanes&, index_t i, F f) const {
    for (index_t k = a.row_ptr[i * block]; k < a.row_ptr[(i + 1) * block]; ++k) {
      const std::int32_t j = a.col[k] / block;
      const double x = Values ? a.val[k] * scale[i] * scale[j] : 0;
      f(j, x, x);
    }
  }
};

struct strong_blocks {
  device_view squares;
  double theta;
  std::int32_t* to;
  float* weight;
  __device__ bool passes(index_t i, index_t k) const { return squares.col[k] != i && sqrt(squares.val[k]) >= theta; }
  __device__ void put(index_t, index_t k, index_t place) const {
    to[place] = squares.col[k];
    weight[place] = static_cast<float>(sqrt(squares.val[k]));
  }
};

struct length_of_row {
  const index_t* row_ptr;
  double* length;
  FURROW_HD void operator()(index_t i) const { length[i] = double(row_ptr[i + 1] - row_ptr[i]); }
};

// Prolongation.

/// Marks the entries of A that count for what they are, as `gpu_coarsening::mark_strong`: a node stays whole where one
/// of its diagonal entries would not be left enough of.
struct mark_strong {
  device_view a;
  int block;
  graph_view strong;
  std::uint8_t* mark;

  FURROW_HD void operator()(index_t node) const {
    bool any = false, whole = false;
    for (int r = 0; r < block; ++r) {
      const index_t i = node * block + r;
      index_t next = strong.first[node];
      double own = 0, sum = 0;
      for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        const std::int32_t j = a.col[k] / block;
        while (next < strong.first[node + 1] && strong.to[next] < j) ++next;
        const bool counts = j == node || (next < strong.first[node + 1] && strong.to[next] == j);
        mark[k] = counts;
        if (a.col[k] == i) own = a.val[k];
        if (counts) continue;
        any = true;
        if (a.col[k] - j * block == r) sum += a.val[k];
      }
      whole = whole || own + sum < least_share * own;
    }
    if (any && whole)
      for (index_t k = a.row_ptr[node * block]; k < a.row_ptr[(node + 1) * block]; ++k) mark[k] = true;
  }
};

/// Which aggregates the rows of a node of P have entries for.
struct places_of_node {
  static constexpr index_t usual_length = 16;
  device_view a;
  int block;
  const std::uint8_t* mark;
  const std::int32_t* of;

  FURROW_HD index_t most_entries(index_t i) const {
    return of[i] < 0 ? 0 : a.row_ptr[(i + 1) * block] - a.row_ptr[i * block] + 1;
  }
  template <bool, class Lanes, class F> FURROW_HD void each(const Lanes&, index_t i, F f) const {
    if (of[i] < 0) return;
    f(of[i], 0.0, 0.0);
    for (index_t k = a.row_ptr[i * block]; k < a.row_ptr[(i + 1) * block]; ++k)
      if (const std::int32_t j = a.col[k] / block; mark[k] && of[j] >= 0) f(of[j], 0.0, 0.0);
  }
};

/// A row of A_F P0, by blocks: block e of `places` has its numbers from e block^2 on, row by row.
struct add_row {
  device_view a;
  int block;
  const std::uint8_t* mark;
  const std::int32_t* of;
  device_view places;
  double* blocks;

  FURROW_HD void operator()(index_t i) const {
    const index_t node = i / block;
    const int r = static_cast<int>(i - node * block);
    if (of[node] < 0) return;
    double lumped[most_unknowns] = {};
    std::int32_t aggregate = -1; // that of the entry before
    double* to = nullptr;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col[k] / block, c = a.col[k] - j * block;
      if (!mark[k]) lumped[c] += a.val[k];
      else if (of[j] >= 0) {
        if (of[j] != aggregate) to = row_of(node, aggregate = of[j], r);
        to[c] += a.val[k];
      }
    }
    to = row_of(node, of[node], r);
    for (int c = 0; c < block; ++c) to[c] += lumped[c];
  }

private:
  FURROW_HD double* row_of(index_t node, std::int32_t aggregate, int r) const {
    index_t e = places.row_ptr[node]; // rows of P are short
    while (places.col[e] != aggregate) ++e;
    return blocks + (e * block + r) * block;
  }
};

/// Blocks become P0 - omega D^-1 times them, row by row; a thread takes a block.
struct smooth_block {
  int block;
  const index_t* first; ///< of the places
  const std::int32_t *place, *of;
  const double *inverse, *blocks;
  double omega;
  std::int32_t* col;
  double* val;

  FURROW_HD void operator()(index_t node, index_t e) const {
    const index_t row = (first[node + 1] - first[node]) * block; // entries of a row of the node
    const double *const d = inverse + node * block * block, *const from = blocks + e * block * block;
    for (int r = 0; r < block; ++r) {
      const index_t to = first[node] * block * block + r * row + (e - first[node]) * block;
      for (int c = 0; c < block; ++c) {
        double sum = 0;
        for (int l = 0; l < block; ++l) sum += gpu::product(d[r * block + l], from[l * block + c]);
        const double v = gpu::product(-omega, sum);
        col[to + c] = place[e] * block + c;
        val[to + c] = place[e] == of[node] && r == c ? v + 1 : v;
      }
    }
  }
};
struct offset_of_row {
  int block;
  const index_t* first;
  index_t* row_ptr;
  FURROW_HD void operator()(index_t i) const {
    const index_t node = i / block, r = i - node * block, last = first[node + (r > 0)];
    row_ptr[i] = first[node] * block * block + r * (last - first[node]) * block;
  }
};

inline device_matrix smoothed(const device_view& a, int block, const coupling_graph<gpu_array>& graph,
                              const device_aggregates& found, const gpu_array<double>& inverse, double omega) {
  const index_t nodes = a.shape.rows / block, size = index_t(block) * block;
  gpu_array<std::uint8_t> mark(a.val.size);
  gpu::for_each(nodes, mark_strong{a, block, view_of(graph), mark.data()});
  const device_matrix places =
      gpu::add_up<1, true>({nodes, found.count}, places_of_node{a, block, mark.data(), found.of.data()});
  const index_t all = places.col.size();
  gpu_array<double> blocks(all * size);
  gpu::fill_bytes(blocks, 0);
  gpu::for_each(a.shape.rows, add_row{a, block, mark.data(), found.of.data(), view_of(places), blocks.data()});
  device_matrix p{{a.shape.rows, found.count * block},
                  gpu_array<index_t>(a.shape.rows + 1),
                  gpu_array<std::int32_t>(all * size),
                  gpu_array<double>(all * size)};
  gpu::for_each(a.shape.rows + 1, offset_of_row{block, places.row_ptr.data(), p.row_ptr.data()});
  gpu::for_each_entry(nodes, places.row_ptr.data(), all,
                      smooth_block{block, places.row_ptr.data(), places.col.data(), found.of.data(), inverse.data(),
                                   blocks.data(), omega, p.col.data(), p.val.data()});
  return without_zeros(std::move(p));
}

struct has_aggregate {
  int block;
  const std::int32_t* of;
  index_t* length;
  FURROW_HD void operator()(index_t i) const { length[i] = of[i / block] >= 0; }
};
struct put_constant {
  int block;
  const std::int32_t* of;
  const index_t* first;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t i) const {
    const index_t node = i / block;
    if (of[node] < 0) return;
    col[first[i]] = static_cast<std::int32_t>(of[node] * block + (i - node * block));
    val[first[i]] = 1;
  }
};

/// P0.
inline device_matrix constants(index_t rows, int block, const device_aggregates& found) {
  device_matrix p{{rows, found.count * block}, gpu_array<index_t>(rows + 1), {}, {}};
  gpu::for_each(rows, has_aggregate{block, found.of.data(), p.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(p.row_ptr);
  p.col = gpu_array<std::int32_t>(nnz);
  p.val = gpu_array<double>(nnz);
  gpu::for_each(rows, put_constant{block, found.of.data(), p.row_ptr.data(), p.col.data(), p.val.data()});
  return p;
}

inline coupling_graph<gpu_array> strong_couplings(const device_matrix& squares, double theta) {
  const index_t n = squares.shape.rows;
  strong_blocks strong{view_of(squares), theta, nullptr, nullptr};
  coupling_graph<gpu_array> g{gpu_array<index_t>(n + 1), {}, {}};
  gpu::count_passing(n, squares.row_ptr.data(), strong, g.first.data());
  const index_t all = gpu::to_offsets(g.first);
  g.to = gpu_array<std::int32_t>(all);
  g.weight = gpu_array<float>(all);
  strong.to = g.to.data();
  strong.weight = g.weight.data();
  gpu::put_passing(n, squares.row_ptr.data(), strong, g.first.data());
  return g;
}

} // namespace gpu_node_coarsening

gpu_array<double> inverse_blocks(const device_view& a, int block) {
  gpu_array<double> inverse(a.shape.rows * block);
  gpu_node_coarsening::with_block(block, [&](auto b) {
    gpu::for_each(a.shape.rows / block, gpu_node_coarsening::invert_node<decltype(b)::value>{a, inverse.data()});
  });
  return inverse;
}

device_matrix squares_of_blocks(const device_view& a, int block) {
  const index_t nodes = a.shape.rows / block;
  gpu_array<double> scale(nodes);
  gpu::for_each(nodes, gpu_node_coarsening::scale_of_node{a, block, scale.data()});
  return gpu::add_up<1, true>({nodes, nodes}, gpu_node_coarsening::squares_of_node{a, block, scale.data()});
}

double largest_eigenvalue(const device_view& a, int block, const device_matrix& squares,
                          const gpu_array<double>& inverse) {
  gpu_array<double> length(squares.shape.rows);
  gpu::for_each(length.size(), gpu_node_coarsening::length_of_row{squares.row_ptr.data(), length.data()});
  const auto product = [&](auto x, auto keep) { row_pass(gpu::current_queue(), a, cview<double>{}, 1, x, keep); };
  return bound_of_spectrum(gpu::largest_of(as_cview(length), 0.0), gpu_lanczos(inverse, product, block));
}

device_matrix node_prolongation(const device_view& a, int block, const device_matrix& squares,
                                const gpu_array<double>& inverse, double lambda, double theta, bool smoothed) {
  const auto graph = gpu_node_coarsening::strong_couplings(squares, theta);
  const auto found = aggregates_of(graph);
  if (found.count == 0 || double(found.count) * least_shrinking > double(squares.shape.rows)) return {};
  if (!smoothed) return gpu_node_coarsening::constants(a.shape.rows, block, found);
  return gpu_node_coarsening::smoothed(a, block, graph, found, inverse, 4 / (3 * lambda));
}

} // namespace furrow::amg
