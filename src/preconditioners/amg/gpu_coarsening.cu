// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_coarsening.hpp"

#include "gpu_lanczos.hpp"
#include "independent_set.hpp"

#include "backends/gpu/primitives.hpp"
#include "backends/gpu/space.hpp"
#include "matrix/gpu_row_sums.hpp"

#include <furrow/storage.hpp>

#include <cub/device/device_select.cuh>

#include <bit>
#include <limits>

namespace furrow::amg {
namespace gpu_coarsening {

using matrix_view = rows<double, cview>;

// The diagonal.

struct diagonal_entry {
  matrix_view a;
  double* own;
  FURROW_HD void operator()(index_t i) const {
    double found = 0;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col[k] == i && a.val[k] == a.val[k]) found = a.val[k];
    own[i] = found;
  }
};

struct invert {
  double* v;
  FURROW_HD void operator()(index_t i) const { v[i] = 1 / v[i]; }
};

inline gpu_array<double> diagonal_of(const device_matrix& a) {
  gpu_array<double> own(a.shape.rows);
  gpu::for_each(a.shape.rows, diagonal_entry{view_of(a), own.data()});
  return own;
}

/// sum |(D^-1 A)_ij| of a row.
struct sum_of_row {
  matrix_view a;
  const double* inverse;
  double* sum;
  FURROW_HD void operator()(index_t i) const {
    double own = 0;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) own += fabs(a.val[k]);
    sum[i] = own * inverse[i];
  }
};

// The coarsest matrix.

struct put_entries {
  matrix_view a;
  double* to;
  FURROW_HD void operator()(index_t i) const {
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) to[i * a.shape.rows + a.col[k]] = a.val[k];
  }
};
/// Step k of an inversion in place, but from one place to another.
struct eliminate {
  index_t n, k;
  const double* from;
  double *to, *pivot;
  FURROW_HD void operator()(index_t at) const {
    const index_t i = at / n, j = at - i * n;
    const double own = from[k * n + k], left = from[i * n + k], above = from[k * n + j];
    if (i == k) {
      to[at] = j == k ? 1 / own : above / own;
      if (j == k) pivot[k] = own;
    } else to[at] = j == k ? -left / own : from[at] - left * (above / own);
  }
};
struct symmetrize {
  index_t n;
  const double* from;
  double* to;
  FURROW_HD void operator()(index_t at) const {
    const index_t i = at / n, j = at - i * n;
    to[at] = (from[at] + from[j * n + i]) / 2;
  }
};

// Strong couplings.

struct scale_of_row {
  double* v; ///< a diagonal entry, then its scale
  FURROW_HD void operator()(index_t i) const {
    const double own = fabs(v[i]);
    v[i] = own > 0 ? 1 / sqrt(own) : 0;
  }
};

struct strong_entries {
  matrix_view a;
  const double* scale;
  double theta;
  std::int32_t* to;
  float* weight;

  __device__ double weight_of(index_t i, index_t k) const { return fabs(a.val[k] * scale[i] * scale[a.col[k]]); }
  __device__ bool passes(index_t i, index_t k) const { return a.col[k] != i && weight_of(i, k) >= theta; }
  __device__ void put(index_t i, index_t k, index_t place) const {
    to[place] = a.col[k];
    weight[place] = static_cast<float>(weight_of(i, k));
  }
};

inline coupling_graph<gpu_array> strong_couplings(const device_matrix& a, double theta) {
  const index_t n = a.shape.rows;
  gpu_array<double> scale = diagonal_of(a);
  gpu::for_each(n, scale_of_row{scale.data()});
  strong_entries strong{view_of(a), scale.data(), theta, nullptr, nullptr};
  coupling_graph<gpu_array> g{gpu_array<index_t>(n + 1), {}, {}};
  gpu::count_passing(n, a.row_ptr.data(), strong, g.first.data());
  const index_t all = gpu::to_offsets(g.first);
  g.to = gpu_array<std::int32_t>(all);
  g.weight = gpu_array<float>(all);
  strong.to = g.to.data();
  strong.weight = g.weight.data();
  gpu::put_passing(n, a.row_ptr.data(), strong, g.first.data());
  return g;
}

// Aggregates.

struct has_couplings {
  graph_view g;
  FURROW_HD bool operator()(std::int32_t i) const { return !g.alone(i); }
};
struct is_open {
  const word* w;
  FURROW_HD bool operator()(std::int32_t i) const { return !is_decided(w[i]); }
};

/// Numbers of rows, ascending, fewer from round to round; how many is known to the GPU first.
class list {
public:
  explicit list(index_t n) : items_(n), other_(n), count_(1), size_(n) {
    gpu::for_each(n, gpu::count_up<std::int32_t>{items_.data()});
  }
  const std::int32_t* data() const { return items_.data(); }
  index_t size() const { return size_; }
  /// Those that pass stay, once `settle` has fetched their number.
  template <class Keep> void filter(Keep keep) {
    gpu::with_room([&](void* room, std::size_t& bytes, auto stream) {
      return cub::DeviceSelect::If(room, bytes, items_.data(), other_.data(), count_.data(), size_, keep, stream);
    });
    std::swap(items_, other_);
  }
  void settle() { size_ = gpu::fetch(count_.data()); }

private:
  gpu_array<std::int32_t> items_, other_;
  gpu_array<index_t> count_;
  index_t size_;
};

struct leave_open {
  word *own, *near;
  FURROW_HD void operator()(index_t i) const { own[i] = near[i] = out_of_set; }
};
struct draw {
  const std::int32_t* item;
  int round, bits;
  word* own;
  FURROW_HD void operator()(index_t k) const { own[item[k]] = word_of(item[k], round, bits); }
};
struct look_around {
  const std::int32_t* item;
  graph_view g;
  const word* own;
  word* near;
  FURROW_HD void operator()(index_t k) const { near[item[k]] = least_around(g, own, item[k]); }
};
struct decide {
  const std::int32_t* item;
  graph_view g;
  const word* near;
  word* own;
  FURROW_HD void operator()(index_t k) const { own[item[k]] = decided(g, near, own[item[k]], item[k]); }
};

/// The words of the nodes of a set as `independent_at_distance_two` has it.
inline gpu_array<word> decided_words(const coupling_graph<gpu_array>& graph) {
  const index_t n = graph.first.size() - 1;
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n) + 1));
  const graph_view g = view_of(graph);
  gpu_array<word> own(n), near(n);
  gpu::for_each(n, leave_open{own.data(), near.data()});
  list undecided(n), watched(n);
  undecided.filter(has_couplings{g});
  watched.filter(has_couplings{g});
  undecided.settle();
  watched.settle();
  for (int round = 0; undecided.size() > 0; ++round) {
    gpu::for_each(undecided.size(), draw{undecided.data(), round, bits, own.data()});
    gpu::for_each(watched.size(), look_around{watched.data(), g, own.data(), near.data()});
    gpu::for_each(undecided.size(), decide{undecided.data(), g, near.data(), own.data()});
    undecided.filter(is_open{own.data()});
    watched.filter(is_open{near.data()});
    undecided.settle();
    watched.settle();
  }
  return own;
}

struct is_root {
  const word* own;
  index_t* root;
  FURROW_HD void operator()(index_t i) const { root[i] = own[i] == in_set; }
};
struct number_roots {
  const word* own;
  const index_t* before;
  std::int32_t* number;
  FURROW_HD void operator()(index_t i) const {
    number[i] = own[i] == in_set ? static_cast<std::int32_t>(before[i]) : -1;
  }
};
struct join_roots {
  graph_view g;
  const std::int32_t* number;
  std::int32_t* first;
  FURROW_HD void operator()(index_t i) const { first[i] = root_beside(g, number, i); }
};
struct join_aggregates {
  graph_view g;
  const std::int32_t* first;
  std::int32_t* of;
  FURROW_HD void operator()(index_t i) const { of[i] = first[i] < 0 ? strongest(g, first, i) : first[i]; }
};

struct device_aggregates {
  gpu_array<std::int32_t> of;
  index_t count;
};
inline device_aggregates aggregates_of(const coupling_graph<gpu_array>& graph) {
  const index_t n = graph.first.size() - 1;
  const graph_view g = view_of(graph);
  const gpu_array<word> own = decided_words(graph);
  gpu_array<index_t> before(n + 1);
  gpu::for_each(n, is_root{own.data(), before.data()});
  const index_t count = gpu::to_offsets(before);
  gpu_array<std::int32_t> number(n), first(n);
  gpu::for_each(n, number_roots{own.data(), before.data(), number.data()});
  gpu::for_each(n, join_roots{g, number.data(), first.data()});
  gpu::for_each(n, join_aggregates{g, first.data(), number.data()});
  return {std::move(number), count};
}

// Prolongation.

struct has_aggregate {
  const std::int32_t* of;
  index_t* length;
  FURROW_HD void operator()(index_t i) const { length[i] = of[i] >= 0; }
};
struct put_constant {
  const std::int32_t* of;
  const index_t* first;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t i) const {
    if (of[i] < 0) return;
    col[first[i]] = of[i];
    val[first[i]] = 1;
  }
};

/// P0: a constant over each aggregate.
inline device_matrix constants(const device_aggregates& found) {
  const index_t n = found.of.size();
  device_matrix p{{n, found.count}, gpu_array<index_t>(n + 1), {}, {}};
  gpu::for_each(n, has_aggregate{found.of.data(), p.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(p.row_ptr);
  p.col = gpu_array<std::int32_t>(nnz);
  p.val = gpu_array<double>(nnz);
  gpu::for_each(n, put_constant{found.of.data(), p.row_ptr.data(), p.col.data(), p.val.data()});
  return p;
}

constexpr double least_share = 0.2; ///< of a diagonal entry that lumping must leave

/// Rows of A_F P0, the diagonal entry first: weak entries are added to it where that leaves enough of it, otherwise the
/// row of A stays whole. A row of no aggregate has no entries.
struct filtered_row {
  static constexpr index_t usual_length = 16;
  matrix_view a;
  graph_view strong;
  const std::int32_t* of;

  FURROW_HD index_t most_entries(index_t i) const { return of[i] < 0 ? 0 : a.row_ptr[i + 1] - a.row_ptr[i] + 1; }
  template <bool, class Lanes, class F> FURROW_HD void each(const Lanes&, index_t i, F f) const {
    if (of[i] < 0) return;
    double own = 0, weak = 0;
    walk(i, [&](std::int32_t j, double v, bool is_strong) {
      if (j == i) own = v;
      else if (!is_strong) weak += v;
    });
    const bool whole = own + weak < least_share * own;
    f(of[i], 1.0, whole ? own : own + weak);
    walk(i, [&](std::int32_t j, double v, bool is_strong) {
      if (j != i && (whole || is_strong) && of[j] >= 0) f(of[j], 1.0, v);
    });
  }

private:
  template <class F> FURROW_HD void walk(index_t i, F f) const {
    index_t next = strong.first[i];
    const index_t end = strong.first[i + 1];
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col[k];
      while (next < end && strong.to[next] < j) ++next;
      f(j, a.val[k], next < end && strong.to[next] == j);
    }
  }
};

/// A_F P0 becomes P0 - omega D^-1 A_F P0; counts what is not 0.
struct smooth_row {
  const index_t* first;
  const std::int32_t *col, *of;
  const double* inverse;
  double omega;
  double* val;
  index_t* count;
  FURROW_HD void operator()(index_t i) const {
    const double factor = -omega * inverse[i];
    index_t left = 0;
    for (index_t k = first[i]; k < first[i + 1]; ++k) {
      const double v = gpu::product(val[k], factor);
      val[k] = col[k] == of[i] ? v + 1 : v;
      left += val[k] != 0;
    }
    count[i] = left;
  }
};
struct other_than_zero {
  matrix_view from;
  std::int32_t* col;
  double* val;
  __device__ bool passes(index_t, index_t k) const { return from.val[k] != 0; }
  __device__ void put(index_t, index_t k, index_t place) const {
    col[place] = from.col[k];
    val[place] = from.val[k];
  }
};
inline device_matrix smoothed(const device_matrix& a, const coupling_graph<gpu_array>& graph,
                              const device_aggregates& found, const gpu_array<double>& inverse, double omega) {
  const index_t n = a.shape.rows;
  device_matrix p = gpu::add_up<1, true>({n, found.count}, filtered_row{view_of(a), view_of(graph), found.of.data()});
  gpu_array<index_t> count(n + 1);
  gpu::for_each(n, smooth_row{p.row_ptr.data(), p.col.data(), found.of.data(), inverse.data(), omega, p.val.data(),
                              count.data()});
  const index_t nnz = gpu::to_offsets(count);
  if (nnz == p.val.size()) return p;
  device_matrix dense{p.shape, std::move(count), gpu_array<std::int32_t>(nnz), gpu_array<double>(nnz)};
  gpu::put_passing(n, p.row_ptr.data(), other_than_zero{view_of(p), dense.col.data(), dense.val.data()},
                   dense.row_ptr.data());
  return dense;
}

} // namespace gpu_coarsening

diagonal_extremes extremes_of_diagonal(const device_matrix& a) {
  const gpu_array<double> own = gpu_coarsening::diagonal_of(a);
  return {gpu::least_of(as_cview(own), std::numeric_limits<double>::infinity()), gpu::largest_of(as_cview(own), 0.0)};
}

gpu_array<double> inverse_diagonal(const device_matrix& a) {
  gpu_array<double> own = gpu_coarsening::diagonal_of(a);
  gpu::for_each(own.size(), gpu_coarsening::invert{own.data()});
  return own;
}

double largest_eigenvalue(const device_matrix& a, const gpu_array<double>& inverse) {
  gpu_array<double> sum(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_coarsening::sum_of_row{view_of(a), inverse.data(), sum.data()});
  return bound_of_spectrum(gpu::largest_of(as_cview(sum), 0.0), gpu_lanczos(inverse, [&](auto x, auto keep) {
                             row_pass(gpu::current_queue(), a, cview<double>{}, 1, x, keep);
                           }));
}

std::optional<gpu_array<double>> dense_inverse(const device_matrix& a) {
  using namespace gpu_coarsening;
  constexpr double lost = 1e-13;
  const index_t n = a.shape.rows;
  gpu_array<double> t(n * n), next(n * n), pivot(n);
  gpu::fill_bytes(t, 0);
  gpu::for_each(n, put_entries{view_of(a), t.data()});
  for (index_t k = 0; k < n; ++k) {
    gpu::for_each(n * n, eliminate{n, k, t.data(), next.data(), pivot.data()});
    std::swap(t, next);
  }
  gpu::for_each(n * n, symmetrize{n, t.data(), next.data()});
  const host_array<double> found(pivot), own(diagonal_of(a));
  for (index_t k = 0; k < n; ++k)
    if (!(found[k] > lost * own[k] * double(n))) return std::nullopt;
  return next;
}

device_matrix prolongation(const device_matrix& a, const gpu_array<double>& inverse, double lambda, double theta,
                           bool smoothed) {
  using namespace gpu_coarsening;
  const auto graph = strong_couplings(a, theta);
  const auto found = aggregates_of(graph);
  if (found.count == 0 || double(found.count) * least_shrinking > double(a.shape.rows)) return {};
  if (!smoothed) return constants(found);
  return gpu_coarsening::smoothed(a, graph, found, inverse, 4 / (3 * lambda));
}

} // namespace furrow::amg
