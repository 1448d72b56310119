// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_coarsening.hpp"

#include "chebyshev.hpp"
#include "gpu_aggregates.hpp"
#include "gpu_lanczos.hpp"
#include "prolongation.hpp"

#include "backends/gpu/primitives.hpp"
#include "backends/gpu/space.hpp"
#include "matrix/gpu_row_sums.hpp"

#include <furrow/storage.hpp>

#include <limits>
#include <type_traits>

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

struct invert_damped {
  device_view a;
  double* to;
  FURROW_HD void operator()(index_t i) const {
    double sum = 0, own = 0;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      sum += fabs(a.val[k]);
      if (a.col[k] == i) own = a.val[k];
    }
    to[i] = 1 / fmax(sum, chebyshev::first * own);
  }
};

// Strong couplings.

/// Rows of |a_ij| + |a_ji|.
struct sizes_either_way {
  static constexpr index_t usual_length = 32;
  device_view a, back;
  FURROW_HD index_t most_entries(index_t i) const {
    return a.row_ptr[i + 1] - a.row_ptr[i] + back.row_ptr[i + 1] - back.row_ptr[i];
  }
  template <bool Values, int L, class F> __device__ void each(const gpu::lane_group<L>& lanes, index_t i, F f) const {
    each_of(a, lanes, i, f);
    lanes.sync();
    each_of(back, lanes, i, f);
  }

private:
  template <int L, class F>
  __device__ static void each_of(const device_view& m, const gpu::lane_group<L>& lanes, index_t i, F f) {
    for (index_t k = m.row_ptr[i] + lanes.rank; k < m.row_ptr[i + 1]; k += L) f(m.col[k], 1.0, fabs(m.val[k]));
  }
};

struct scale_of_row {
  const double* diagonal;
  double* scale;
  FURROW_HD void operator()(index_t i) const {
    const double own = fabs(diagonal[i]);
    scale[i] = own > 0 ? 1 / sqrt(own) : 0;
  }
};

struct strong_entries {
  device_view a;
  const double* scale;
  double theta;
  index_t below; ///< columns from there on are no neighbours
  std::int32_t* to;
  float* weight;

  __device__ double weight_of(index_t i, index_t k) const { return fabs(a.val[k] * scale[i] * scale[a.col[k]]); }
  __device__ bool passes(index_t i, index_t k) const {
    return a.col[k] != i && a.col[k] < below && weight_of(i, k) >= theta;
  }
  __device__ void put(index_t i, index_t k, index_t place) const {
    to[place] = a.col[k];
    weight[place] = static_cast<float>(weight_of(i, k));
  }
};

inline coupling_graph<gpu_array> strong_couplings(const device_view& a, const gpu_array<double>& scale, double theta,
                                                  index_t below) {
  const index_t n = a.shape.rows;
  strong_entries strong{a, scale.data(), theta, below, nullptr, nullptr};
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

/// The strong couplings of a row, asked for entry after entry: of a graph that has them.
struct couplings_listed {
  graph_view graph;
  index_t next = 0, end = 0;
  FURROW_HD void begin(index_t i) { next = graph.first[i], end = graph.first[i + 1]; }
  FURROW_HD bool has(const device_view&, index_t, index_t, std::int32_t j) {
    while (next < end && graph.to[next] < j) ++next;
    return next < end && graph.to[next] == j;
  }
};
/// By their weight.
struct couplings_weighed {
  const double* scale;
  double theta;
  FURROW_HD void begin(index_t) {}
  FURROW_HD bool has(const device_view& a, index_t i, index_t k, std::int32_t j) const {
    return fabs(a.val[k] * scale[i] * scale[j]) >= theta;
  }
};

/// Marks the entries of A that count for what they are: the diagonal, strong couplings, and all of a row whose diagonal
/// entry would not be left enough of.
template <class Couplings> struct mark_strong {
  device_view a;
  Couplings strong;
  const std::int32_t* of;
  std::uint8_t* mark;
  index_t* weak; ///< some row of an aggregate has others; may be null

  FURROW_HD void operator()(index_t i) const {
    Couplings couplings = strong;
    couplings.begin(i);
    double own = 0, sum = 0;
    bool any = false;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col[k];
      const bool counts = j == i || couplings.has(a, i, k, j);
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
  template <bool Values, int L, class F> __device__ void each(const gpu::lane_group<L>& lanes, index_t i, F f) const {
    if (of[i] < 0) return;
    const index_t begin = a.row_ptr[i], end = a.row_ptr[i + 1];
    const double own = Values ? filtered_diagonal(lanes, i, begin, end) : 0;
    if (lanes.rank == 0) f(of[i], 1.0, own);
    lanes.sync();
    for (index_t first = begin; first < end; first += L) {
      const index_t k = first + lanes.rank;
      const std::int32_t j = k < end ? a.col[k] : static_cast<std::int32_t>(i);
      const std::int32_t to = j != i && strong[k] ? of[j] : -1;
      const double value = Values && to >= 0 ? a.val[k] : 0;
      if constexpr (!Values || L == 1) {
        if (to >= 0) f(to, 1.0, value);
      } else { // addends of one aggregate in their order
        const int before = lanes.votes_before(lanes.alike(to));
        for (int turn = 0; lanes.vote(to >= 0 && before >= turn); ++turn) {
          if (to >= 0 && before == turn) f(to, 1.0, value);
          lanes.sync();
        }
      }
    }
  }

private:
  /// The diagonal entry, with the weak ones in their order where that leaves enough of it.
  template <int L>
  __device__ double filtered_diagonal(const gpu::lane_group<L>& lanes, index_t i, index_t begin, index_t end) const {
    double own = 0, weak = 0;
    for (index_t first = begin; first < end; first += L) {
      const index_t k = first + lanes.rank;
      const double value = k < end ? a.val[k] : 0;
      const bool on_diagonal = k < end && a.col[k] == i, is_weak = k < end && !on_diagonal && !strong[k];
      if constexpr (L == 1) {
        if (on_diagonal) own = value;
        if (is_weak) weak += value;
      } else {
        if (const unsigned who = lanes.vote(on_diagonal)) own = lanes.from(__ffs(who) - 1, value);
        for (unsigned who = lanes.vote(is_weak); who; who &= who - 1) weak += lanes.from(__ffs(who) - 1, value);
      }
    }
    return own + weak < least_share * own ? own : own + weak;
  }
};

/// call(lanes) with as many as suit the rows of A.
template <class Call> auto with_lanes_of(const device_view& a, Call call) {
  if (a.val.size <= 3 * a.shape.rows) return call(std::integral_constant<int, 1>());
  return call(std::integral_constant<int, 8>());
}

/// A_F P0 becomes P0 - omega D^-1 A_F P0.
struct smooth_row {
  const index_t* first;
  const std::int32_t *col, *of;
  const double* inverse;
  double omega;
  double* val;
  FURROW_HD void operator()(index_t i) const {
    const double factor = -omega * inverse[i];
    for (index_t k = first[i]; k < first[i + 1]; ++k) {
      const double v = gpu::product(val[k], factor);
      val[k] = col[k] == of[i] ? v + 1 : v;
    }
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
template <class Couplings>
device_matrix smoothed(const device_view& a, Couplings couplings, device_aggregates found,
                       const gpu_array<double>& inverse, double omega, kept_prolongation* kept) {
  const index_t n = a.shape.rows;
  gpu_array<std::uint8_t> strong(a.val.size);
  gpu_array<index_t> weak(1);
  gpu::fill_bytes(weak, 0);
  gpu::for_each(n, mark_strong<Couplings>{a, couplings, found.of.data(), strong.data(), kept ? weak.data() : nullptr});
  device_matrix p = with_lanes_of(a, [&](auto lanes) {
    return gpu::add_up<decltype(lanes)::value, true>({n, found.count}, filtered_row{a, strong.data(), found.of.data()},
                                                     kept ? &kept->sums : nullptr, a.shape.cols - n);
  });
  gpu::for_each(n, smooth_row{p.row_ptr.data(), p.col.data(), found.of.data(), inverse.data(), omega, p.val.data()});
  if (kept) {
    kept->strong = std::move(strong), kept->aggregate = std::move(found.of);
    kept->smoothed = true, kept->has_weak = gpu::fetch(weak.data()) != 0;
    return p;
  }
  return without_zeros(std::move(p));
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
  template <int L> __device__ void operator()(const gpu::lane_group<L>& lanes, index_t i) const {
    double most_strong = 0, most_weak = 0;
    bool any = false;
    const index_t end = of[i] >= 0 ? a.row_ptr[i + 1] : a.row_ptr[i];
    for (index_t k = a.row_ptr[i] + lanes.rank; k < end; k += L) {
      if (a.col[k] == i) continue;
      const double weight = fabs(a.val[k]) * sqrt(inverse[i]) * sqrt(inverse[a.col[k]]);
      any = any || !strong[k];
      double& most = strong[k] ? most_strong : most_weak;
      if (weight > most) most = weight;
    }
    most_strong = lanes.largest(most_strong), most_weak = lanes.largest(most_weak);
    const bool doubts = lanes.vote(any) && most_weak >= theta && most_weak >= most_strong / 2;
    if (lanes.rank == 0) doubtful[i] = doubts;
  }
};

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

gpu_array<double> scales_of(const gpu_array<double>& diagonal, index_t more) {
  auto scale = gpu::with_spare<double>(diagonal.size(), more);
  gpu::for_each(diagonal.size(), gpu_coarsening::scale_of_row{diagonal.data(), scale.data()});
  return scale;
}

gpu_array<double> inverse_of(const gpu_array<double>& diagonal) {
  gpu_array<double> inverse(diagonal.size());
  gpu::for_each(diagonal.size(), gpu_coarsening::invert{diagonal.data(), inverse.data()});
  return inverse;
}

double gershgorin(const device_view& a, const gpu_array<double>& inverse) {
  gpu_array<double> sum(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_coarsening::sum_of_row{a, inverse.data(), sum.data()});
  return gpu::largest_of(as_cview(sum), 0.0);
}

double largest_eigenvalue(const device_view& a, const gpu_array<double>& inverse) {
  return bound_of_spectrum(gershgorin(a, inverse), gpu_lanczos(inverse, [&](auto x, auto keep) {
                             row_pass(gpu::current_queue(), a, cview<double>{}, 1, x, keep);
                           }));
}

device_matrix without_zeros(device_matrix p) {
  using gpu_coarsening::other_than_zero;
  const index_t n = p.shape.rows;
  gpu_array<index_t> count(n + 1);
  other_than_zero other{view_of(p), nullptr, nullptr};
  gpu::count_passing(n, p.row_ptr.data(), other, count.data());
  const index_t nnz = gpu::to_offsets(count);
  if (nnz == p.val.size()) return p;
  device_matrix dense{p.shape, std::move(count), gpu_array<std::int32_t>(nnz), gpu_array<double>(nnz)};
  other.col = dense.col.data(), other.val = dense.val.data();
  gpu::put_passing(n, p.row_ptr.data(), other, dense.row_ptr.data());
  return dense;
}

device_matrix constants(const device_aggregates& found) {
  const index_t n = found.of.size();
  device_matrix p{{n, found.count}, gpu_array<index_t>(n + 1), {}, {}};
  gpu::for_each(n, gpu_coarsening::has_aggregate{found.of.data(), p.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(p.row_ptr);
  p.col = gpu_array<std::int32_t>(nnz);
  p.val = gpu_array<double>(nnz);
  gpu::for_each(n, gpu_coarsening::put_constant{found.of.data(), p.row_ptr.data(), p.col.data(), p.val.data()});
  return p;
}

device_matrix prolongation(const device_view& a, const gpu_array<double>& inverse, double lambda, double theta,
                           bool smoothed, kept_prolongation* kept) {
  using namespace gpu_coarsening;
  const auto graph = strong_couplings(a, scales_of(diagonal_of(a)), theta, a.shape.cols);
  auto found = aggregates_of(graph);
  if (found.count == 0 || double(found.count) * least_shrinking > double(a.shape.rows)) return {};
  if (kept) *kept = {}, kept->theta = theta;
  if (!smoothed) return constants(found);
  return gpu_coarsening::smoothed(a, couplings_listed{view_of(graph)}, std::move(found), inverse, 4 / (3 * lambda),
                                  kept);
}

gpu_array<double> damped_inverse(const device_view& a) {
  gpu_array<double> inverse(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_coarsening::invert_damped{a, inverse.data()});
  return inverse;
}

two_prolongations nonsymmetric_prolongations(const device_view& a, const device_view& back,
                                             const gpu_array<double>& inverse, double theta, bool smoothed) {
  using namespace gpu_coarsening;
  const auto graph = [&] {
    const device_matrix sizes = with_lanes_of(a, [&](auto lanes) {
      return gpu::add_up<decltype(lanes)::value, true>(a.shape, sizes_either_way{a, back});
    });
    return strong_couplings(view_of(sizes), scales_of(diagonal_of(a)), 2 * theta,
                            a.shape.cols); // sizes are twice means
  }();
  const device_aggregates found = aggregates_of(graph);
  if (found.count == 0 || double(found.count) * least_shrinking > double(a.shape.rows)) return {};
  if (!smoothed) return {constants(found), constants(found)};
  const auto made = [&](const device_view& of) {
    return gpu_coarsening::smoothed(of, couplings_listed{view_of(graph)},
                                    {gpu_array<std::int32_t>(found.of), found.count}, inverse, chebyshev::first,
                                    nullptr);
  };
  return {made(a), made(back)};
}

device_aggregates aggregates_of_part(const device_view& a, const gpu_array<double>& scale, double theta) {
  return aggregates_of(gpu_coarsening::strong_couplings(a, scale, theta, a.shape.rows));
}

device_matrix prolongation_of_part(const device_view& a, const gpu_array<double>& scale, double theta,
                                   device_aggregates found, const gpu_array<double>& inverse, double omega) {
  return gpu_coarsening::smoothed(a, gpu_coarsening::couplings_weighed{scale.data(), theta}, std::move(found), inverse,
                                  omega, nullptr);
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
  with_lanes_of(a, [&](auto lanes) {
    gpu::add_again<decltype(lanes)::value>(kept.sums, filtered_row{a, strong, of}, p.row_ptr.data, p.col.data,
                                           val.data);
  });
  gpu::for_each(n, smooth_row{p.row_ptr.data, p.col.data, of, inverse.data(), 4 / (3 * lambda), val.data});
  if (!kept.has_weak) return 0;
  gpu_array<index_t> doubtful(n);
  gpu::for_each_by_lanes(n, find_doubtful{a, strong, of, inverse.data(), kept.theta, doubtful.data()});
  return gpu::sum_of(as_cview(doubtful));
}

} // namespace furrow::amg
