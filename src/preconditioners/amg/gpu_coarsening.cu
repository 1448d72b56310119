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

// The diagonal.

struct diagonal_entry {
  device_view a;
  double* own;
  FURROW_HD void operator()(index_t i) const {
    double found = 0;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col[k] == i && a.val[k] == a.val[k]) found = a.val[k];
    own[i] = found;
  }
};

struct invert {
  const double* v;
  double* to;
  FURROW_HD void operator()(index_t i) const { to[i] = 1 / v[i]; }
};

/// sum |(D^-1 A)_ij| of a row.
struct sum_of_row {
  device_view a;
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
  device_view a;
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
  device_view a;
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

inline coupling_graph<gpu_array> strong_couplings(const device_view& a, double theta) {
  const index_t n = a.shape.rows;
  gpu_array<double> scale = diagonal_of(a);
  gpu::for_each(n, scale_of_row{scale.data()});
  strong_entries strong{a, scale.data(), theta, nullptr, nullptr};
  coupling_graph<gpu_array> g{gpu_array<index_t>(n + 1), {}, {}};
  gpu::count_passing(n, a.row_ptr.data, strong, g.first.data());
  const index_t all = gpu::to_offsets(g.first);
  g.to = gpu_array<std::int32_t>(all);
  g.weight = gpu_array<float>(all);
  strong.to = g.to.data();
  strong.weight = g.weight.data();
  gpu::put_passing(n, a.row_ptr.data, strong, g.first.data());
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

/// Marks the entries of A that count for what they are: the diagonal, strong couplings, and all of a row whose diagonal
/// entry would not be left enough of.
struct mark_strong {
  device_view a;
  graph_view strong;
  const std::int32_t* of;
  std::uint8_t* mark;
  index_t* weak; ///< some row of an aggregate has others; may be null

  FURROW_HD void operator()(index_t i) const {
    index_t next = strong.first[i];
    const index_t end = strong.first[i + 1];
    double own = 0, sum = 0;
    bool any = false;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col[k];
      while (next < end && strong.to[next] < j) ++next;
      const bool counts = j == i || (next < end && strong.to[next] == j);
      mark[k] = counts;
      if (j == i) own = a.val[k];
      if (counts) continue;
      sum += a.val[k];
      any = true;
    }
    if (!any || of[i] < 0) return;
    if (own + sum < least_share * own)
      for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) mark[k] = true;
    else if (weak) *weak = 1;
  }
};

/// Rows of A_F P0, the diagonal entry first: weak entries are added to it where that leaves enough of it. A row of no
/// aggregate has no entries.
struct filtered_row {
  static constexpr index_t usual_length = 16;
  device_view a;
  const std::uint8_t* strong;
  const std::int32_t* of;

  FURROW_HD index_t most_entries(index_t i) const { return of[i] < 0 ? 0 : a.row_ptr[i + 1] - a.row_ptr[i] + 1; }
  template <bool Values, class Lanes, class F> FURROW_HD void each(const Lanes&, index_t i, F f) const {
    if (of[i] < 0) return;
    const index_t begin = a.row_ptr[i], end = a.row_ptr[i + 1];
    double own = 0, weak = 0;
    if constexpr (Values)
      for (index_t k = begin; k < end; ++k) {
        if (a.col[k] == i) own = a.val[k];
        else if (!strong[k]) weak += a.val[k];
      }
    f(of[i], 1.0, own + weak < least_share * own ? own : own + weak);
    for (index_t k = begin; k < end; ++k) {
      const std::int32_t j = a.col[k];
      if (j != i && strong[k] && of[j] >= 0) f(of[j], 1.0, Values ? a.val[k] : 0);
    }
  }
};

/// A_F P0 becomes P0 - omega D^-1 A_F P0; counts what is not 0, where there is a place for it.
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
    if (count) count[i] = left;
  }
};
struct other_than_zero {
  device_view from;
  std::int32_t* col;
  double* val;
  __device__ bool passes(index_t, index_t k) const { return from.val[k] != 0; }
  __device__ void put(index_t, index_t k, index_t place) const {
    col[place] = from.col[k];
    val[place] = from.val[k];
  }
};
inline device_matrix smoothed(const device_view& a, const coupling_graph<gpu_array>& graph, device_aggregates found,
                              const gpu_array<double>& inverse, double omega, kept_prolongation* kept) {
  const index_t n = a.shape.rows;
  gpu_array<std::uint8_t> strong(a.val.size);
  gpu_array<index_t> weak(1), count(kept ? 0 : n + 1);
  gpu::fill_bytes(weak, 0);
  gpu::for_each(n, mark_strong{a, view_of(graph), found.of.data(), strong.data(), kept ? weak.data() : nullptr});
  device_matrix p = gpu::add_up<1, true>({n, found.count}, filtered_row{a, strong.data(), found.of.data()},
                                         kept ? &kept->sums : nullptr);
  gpu::for_each(n, smooth_row{p.row_ptr.data(), p.col.data(), found.of.data(), inverse.data(), omega, p.val.data(),
                              kept ? nullptr : count.data()});
  if (kept) {
    kept->strong = std::move(strong), kept->aggregate = std::move(found.of);
    kept->smoothed = true, kept->has_weak = gpu::fetch(weak.data()) != 0;
    return p;
  }
  const index_t nnz = gpu::to_offsets(count);
  if (nnz == p.val.size()) return p;
  device_matrix dense{p.shape, std::move(count), gpu_array<std::int32_t>(nnz), gpu_array<double>(nnz)};
  gpu::put_passing(n, p.row_ptr.data(), other_than_zero{view_of(p), dense.col.data(), dense.val.data()},
                   dense.row_ptr.data());
  return dense;
}

// Other values.

struct put_one {
  double* to;
  FURROW_HD void operator()(index_t k) const { to[k] = 1; }
};
/// 1 for a row whose weak couplings are about as strong as its strong ones.
struct find_doubtful {
  device_view a;
  const std::uint8_t* strong;
  const std::int32_t* of;
  const double* inverse;
  double theta;
  index_t* doubtful;
  FURROW_HD void operator()(index_t i) const {
    double most_weak = 0, most_strong = 0;
    bool any = false;
    if (of[i] >= 0)
      for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        if (a.col[k] == i) continue;
        const double weight = fabs(a.val[k]) * sqrt(inverse[i]) * sqrt(inverse[a.col[k]]);
        double& most = strong[k] ? most_strong : most_weak;
        any = any || !strong[k];
        if (weight > most) most = weight;
      }
    doubtful[i] = any && most_weak >= theta && most_weak >= most_strong / 2;
  }
};

template <class T> host_array<T> brought_home(cview<T> v) {
  host_array<T> home(v.size);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, v.data, home.byte_count());
  return home;
}

/// Empty where a pivot is no more than rounding.
inline std::optional<gpu_array<double>> eliminated(const device_view& a) {
  constexpr double lost = 1e-13;
  const index_t n = a.shape.rows;
  gpu_array<double> t(n * n), next(n * n), pivot(n);
  gpu::fill_bytes(t, 0);
  gpu::for_each(n, put_entries{a, t.data()});
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

} // namespace gpu_coarsening

gpu_array<double> diagonal_of(const device_view& a) {
  gpu_array<double> own(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_coarsening::diagonal_entry{a, own.data()});
  return own;
}

diagonal_extremes extremes_of(const gpu_array<double>& diagonal) {
  return {gpu::least_of(as_cview(diagonal), std::numeric_limits<double>::infinity()),
          gpu::largest_of(as_cview(diagonal), 0.0)};
}

gpu_array<double> inverse_of(const gpu_array<double>& diagonal) {
  gpu_array<double> inverse(diagonal.size());
  gpu::for_each(diagonal.size(), gpu_coarsening::invert{diagonal.data(), inverse.data()});
  return inverse;
}

double largest_eigenvalue(const device_view& a, const gpu_array<double>& inverse) {
  gpu_array<double> sum(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_coarsening::sum_of_row{a, inverse.data(), sum.data()});
  return bound_of_spectrum(gpu::largest_of(as_cview(sum), 0.0), gpu_lanczos(inverse, [&](auto x, auto keep) {
                             row_pass(gpu::current_queue(), a, cview<double>{}, 1, x, keep);
                           }));
}

std::optional<gpu_array<double>> dense_inverse(const device_view& a) {
  using namespace gpu_coarsening;
  if (auto inverse = eliminated(a)) return inverse;
  const auto row_ptr = brought_home(a.row_ptr);
  const auto col = brought_home(a.col);
  const auto val = brought_home(a.val);
  const auto found = dense_inverse(row_view<double>{a.shape, as_cview(row_ptr), as_cview(col), as_cview(val)});
  return found ? std::optional(gpu_array<double>(*found)) : std::nullopt;
}

device_matrix prolongation(const device_view& a, const gpu_array<double>& inverse, double lambda, double theta,
                           bool smoothed, kept_prolongation* kept) {
  using namespace gpu_coarsening;
  const auto graph = strong_couplings(a, theta);
  auto found = aggregates_of(graph);
  if (found.count == 0 || double(found.count) * least_shrinking > double(a.shape.rows)) return {};
  if (kept) *kept = {}, kept->theta = theta;
  if (!smoothed) return constants(found);
  return gpu_coarsening::smoothed(a, graph, std::move(found), inverse, 4 / (3 * lambda), kept);
}

index_t prolong_again(const device_view& a, const gpu_array<double>& inverse, double lambda,
                      const kept_prolongation& kept, const device_view& p, view<double> val) {
  using namespace gpu_coarsening;
  const index_t n = a.shape.rows;
  if (!kept.smoothed) {
    gpu::for_each(val.size, put_one{val.data});
    return 0;
  }
  const std::uint8_t* const strong = kept.strong.data();
  const std::int32_t* const of = kept.aggregate.data();
  gpu::add_again<1>(kept.sums, filtered_row{a, strong, of}, p.row_ptr.data, p.col.data, val.data);
  gpu::for_each(n, smooth_row{p.row_ptr.data, p.col.data, of, inverse.data(), 4 / (3 * lambda), val.data, nullptr});
  if (!kept.has_weak) return 0;
  gpu_array<index_t> doubtful(n);
  gpu::for_each(n, find_doubtful{a, strong, of, inverse.data(), kept.theta, doubtful.data()});
  return gpu::sum_of(as_cview(doubtful));
}

} // namespace furrow::amg
