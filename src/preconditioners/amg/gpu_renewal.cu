// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_renewal.hpp"

#include "gpu_rounding.hpp"

#include "backends/gpu/primitives.hpp"

#include <furrow/storage.hpp>

#include <type_traits>
#include <utility>

namespace furrow::amg {
namespace gpu_renewal {

template <class T> struct find_difference {
  const T *x, *y;
  index_t* differs;
  FURROW_HD void operator()(index_t i) const {
    if (x[i] != y[i]) *differs = 1;
  }
};
template <class T> bool same(cview<T> x, cview<T> y) {
  if (x.size != y.size) return false;
  gpu_array<index_t> differs(1);
  gpu::fill_bytes(differs, 0);
  gpu::for_each(x.size, find_difference<T>{x.data, y.data, differs.data()});
  return gpu::fetch(differs.data()) == 0;
}

struct gather {
  const std::int32_t* from;
  const double* p;
  double* r;
  FURROW_HD void operator()(index_t k) const { r[k] = p[from[k]]; }
};

} // namespace gpu_renewal

/// The matrix of a level; of the first one that is A.
template <class W>
device_view device_renewal<W>::places(const hierarchy<W, gpu_array>& h, std::size_t number,
                                      cview<double> values) const {
  const auto& a = h.levels[number].a;
  const device_plan& plan = plans_[number];
  return a.row_ptr.empty() ? device_view{a.shape, as_cview(plan.row_ptr), as_cview(plan.col), values}
                           : device_view{a.shape, as_cview(a.row_ptr), as_cview(a.col), values};
}

template <class W>
template <class V>
void device_renewal<W>::make(const rows_on_gpu<V>& a, hierarchy<W, gpu_array>& h) {
  plans_.clear();
  h = {};
  h = smoothed_aggregation_on_gpu<W>(copied(a), plans_);
  for (std::size_t k = 0; k < plans_.size(); ++k) h.facts[k].bytes += plans_[k].stored_bytes();
}

/// The numbers of a level that is smoothed, and the matrix of the next one; false where its aggregates serve no more.
template <class W>
bool device_renewal<W>::renew_level(std::size_t number, const device_view& m, const gpu_array<double>& diagonal,
                                    gpu_array<double>& coarse, hierarchy<W, gpu_array>& h) {
  level<W, gpu_array>& l = h.levels[number];
  device_plan& plan = plans_[number];
  const double planned = plan.stored_bytes();
  const auto inverse = inverse_of(diagonal);
  l.lambda = largest_eigenvalue(m, inverse);
  round_into(l.inverse, as_cview(inverse), 1 / h.scale);
  if (l.by_diagonals()) fill_diagonals(l.diagonals, m, h.scale);
  else round_into(l.a.val, m.val, h.scale);
  if (l.last()) return true;
  gpu_array<double> p_val(l.p.val.size()), r_val(l.r.val.size()), t_val(plan.t_col.size());
  const device_view p{l.p.shape, as_cview(l.p.row_ptr), as_cview(l.p.col), as_cview(p_val)};
  const device_view r{l.r.shape, as_cview(l.r.row_ptr), as_cview(l.r.col), as_cview(r_val)};
  const device_view t{l.p.shape, as_cview(plan.t_row_ptr), as_cview(plan.t_col), as_cview(t_val)};
  if (prolong_again(m, inverse, l.lambda, plan.p, p, as_view(p_val)) * most_doubtful > m.shape.rows) return false;
  gpu::for_each(r_val.size(), gpu_renewal::gather{plan.from.data(), p_val.data(), r_val.data()});
  round_into(l.p.val, p.val, 1);
  round_into(l.r.val, r.val, 1);
  gpu::multiply_again(m, p, plan.t_sums, t, as_view(t_val));
  const device_view next = places(h, number + 1, {});
  coarse = gpu_array<double>(next.col.size);
  gpu::multiply_again(r, t, plan.coarse_sums, next, as_view(coarse));
  h.facts[number].bytes += plan.stored_bytes() - planned;
  return true;
}

template <class W>
template <class V>
renewal_outcome device_renewal<W>::renew(const rows_on_gpu<V>& a, hierarchy<W, gpu_array>& h) {
  if (plans_.empty()) {
    make(a, h);
    return renewal_outcome::remade;
  }
  const device_view first = places(h, 0, {});
  if (!gpu_renewal::same(first.row_ptr, as_cview(a.row_ptr)) || !gpu_renewal::same(first.col, as_cview(a.col)))
    return renewal_outcome::failed;
  const gpu::memory_kept kept;
  gpu_array<double> own, coarse; // own: what m sees, but for values of A that are in double already
  device_view m;
  if constexpr (std::is_same_v<V, double>) m = places(h, 0, as_cview(a.val));
  else {
    own = in_double(as_cview(a.val));
    m = places(h, 0, as_cview(own));
  }
  for (std::size_t k = 0; k < h.levels.size(); ++k) {
    const double began = seconds_now();
    const gpu_array<double> diagonal = diagonal_of(m);
    const diagonal_extremes extremes = extremes_of(diagonal);
    if (k == 0) h.scale = extremes.scale();
    if (h.levels[k].last() && !h.coarsest.empty()) {
      const auto inverse = dense_inverse(m);
      if (!inverse) refuse_indefinite(k);
      round_into(h.coarsest, as_cview(*inverse), 1 / h.scale);
    } else {
      if (!extremes.are_positive()) refuse_indefinite(k);
      if (!renew_level(k, m, diagonal, coarse, h)) {
        make(a, h);
        return renewal_outcome::remade;
      }
    }
    h.facts[k].seconds = seconds_now() - began;
    if (h.levels[k].last()) break;
    own = std::exchange(coarse, {});
    m = places(h, k + 1, as_cview(own));
  }
  return renewal_outcome::renewed;
}

template class device_renewal<double>;
template class device_renewal<float>;
#define FURROW_RENEW(W, V)                                                                                             \
  template renewal_outcome device_renewal<W>::renew(const rows_on_gpu<V>&, hierarchy<W, gpu_array>&);
FURROW_RENEW(double, double)
FURROW_RENEW(double, float)
FURROW_RENEW(float, double)
FURROW_RENEW(float, float)
#undef FURROW_RENEW

} // namespace furrow::amg
