// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_kit.hpp"

#include "gpu_far_pass.hpp"

#include "backends/gpu/ranks_space.hpp"
#include "distributed/together.hpp"
#include "matrix/gpu_products.hpp"
#include "preconditioners/amg/gpu_lanczos.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace furrow::amg {
namespace gpu_kit {

struct add_to_product {
  double* w;
  FURROW_HD void operator()(index_t i, double more) const { w[i] += more; }
};

} // namespace gpu_kit

diagonal_extremes kit_on_gpus::extremes() {
  diagonal_extremes mine{std::numeric_limits<double>::infinity(), 0};
  together(c_, [&] {
    if (rows_.a.shape.rows == 0) return;
    diagonal_ = diagonal_of(view_of(rows_.a));
    mine = extremes_of(diagonal_);
  });
  return mine;
}

double kit_on_gpus::look() {
  const index_t n = rows_.a.shape.rows;
  double most = 1;
  host_array<double> sent;
  together(c_, [&] {
    own_ = own_block(rows_.a, n), far_ = far_block(rows_.a, n, n);
    if (n == 0) return;
    inverse_ = inverse_of(diagonal_);
    most = std::max(most, gershgorin(view_of(rows_.a), inverse_));
    scale_ = scales_of(view_of(rows_.a));
    sent = picked(scale_, rows_.plan.rows_sent);
  });
  sent = exchange_elements(c_, way_of_rows::there(rows_.plan), as_cview(sent));
  together(c_, [&] { scale_ = with_others(scale_, sent); });
  most = c_.max(most);
  return most <= dominant_rows ? most : largest_ritz_bound(most);
}

/// By a Lanczos run of all ranks, whose sums are theirs: they take the same steps.
double kit_on_gpus::largest_ritz_bound(double most) const {
  const auto halo = between_.make_halo(rows_.plan, double());
  const auto product = [&](cview<double> x, lanczos_step::keep_product keep) {
    const gpu::queue& q = gpu::current_queue();
    halo->start(x, q);
    if (own_.shape.rows > 0) row_pass(q, own_, cview<double>{}, 1, x, keep);
    far_pass(q, far_.seen(), double(far_.values.size()), halo->finish(), gpu_kit::add_to_product{keep.w});
  };
  using space = gpu::ranks_space<double>;
  return bound_of_spectrum(most,
                           gpu_lanczos<decltype(product), space>(inverse_, product, 1, space(&between_), rows_.first));
}

/// As `coarsen_on_ranks`.
bool kit_on_gpus::coarsen(double theta, double omega, double most) {
  const index_t n = rows_.a.shape.rows;
  const auto there = way_of_rows::there(rows_.plan);
  device_aggregates found;
  together(c_, [&] {
    if (n > 0) found = aggregates_of_part(view_of(rows_.a), scale_, theta);
  });
  coarse_ = {};
  coarse_.begins = {0};
  for (const index_t count : gather_each(c_, found.count)) coarse_.begins.push_back(coarse_.begins.back() + count);
  if (coarse_unknowns() == 0 || double(coarse_unknowns()) > most) return false;
  coarse_.first = coarse_.begins[static_cast<std::size_t>(c_.rank())];

  rank_columns names(coarse_.first, found.count);
  host_array<std::int32_t> numbers;
  together(c_, [&] {
    numbers = picked(found.of, rows_.plan.rows_sent);
    for (std::int32_t& k : numbers)
      if (k >= 0) k += static_cast<std::int32_t>(names.first());
  });
  numbers = exchange_elements(c_, there, as_cview(numbers));
  loose_rows sent;
  together(c_, [&] {
    prolong(std::move(found), std::move(numbers), theta, omega, names);
    sent = picked(p_, rows_.plan.rows_sent, names);
  });
  way_ = plan_halo(c_, coarse_.begins, names.others());

  const loose_rows come = exchange_rows(c_, there, sent);
  rank_columns wider;
  device_matrix part;
  loose_rows back;
  together(c_, [&] {
    wider = names.with(as_cview(come.col));
    part = multiply(come, names, wider);
    back = taken_out(part, names.own(), wider);
  });
  const halo_plan of_others = plan_halo(c_, coarse_.begins, host_array<std::int32_t>(wider.others()));
  const loose_rows mine = exchange_rows(c_, way_of_rows::back(of_others), back);
  together(c_, [&] {
    const rank_columns all = wider.with(as_cview(mine.col));
    coarse_.a = names.own() == 0
                    ? empty_rows({0, all.count()})
                    : added(stacked(part, names.own(), wider, all, mine), names.own(), of_others.rows_sent);
    coarse_.plan.columns = all.others();
  });
  coarse_entries_ = static_cast<index_t>(c_.sum(double(coarse_.a.val.size())));
  return true;
}

/// P. numbers: of the aggregates that elements of others are in, or -1; their names are added.
void kit_on_gpus::prolong(device_aggregates found, host_array<std::int32_t> numbers, double theta, double omega,
                          rank_columns& names) {
  if (omega == 0 || names.own() == 0) {
    p_ = names.own() == 0 ? empty_rows({rows_.a.shape.rows, 0}) : constants(found);
    return;
  }
  std::vector<std::int32_t> some;
  std::ranges::copy_if(numbers, std::back_inserter(some), [](std::int32_t k) { return k >= 0; });
  names = names.with(cview<std::int32_t>(some));
  for (std::int32_t& k : numbers) k = k >= 0 ? names.local_of(k) : -1;
  p_ = prolongation_of_part(view_of(rows_.a), scale_, theta, {with_others(found.of, numbers), names.count()}, inverse_,
                            omega);
}

/// R, and P'A P of what the rank has of both. others: rows of P of elements of others.
device_matrix kit_on_gpus::multiply(const loose_rows& others, const rank_columns& names, const rank_columns& wider) {
  const index_t n = rows_.a.shape.rows;
  r_ = empty_rows({0, n}), far_r_ = far_block(r_, 0, n);
  if (names.own() == 0) return empty_rows({wider.count(), wider.count()});
  const device_matrix p = stacked(p_, n, names, wider, others);
  const device_matrix all = gpu::transposed(p);
  far_r_ = far_block(all, names.own(), n);
  r_ = own_block(all, n);
  const auto t = gpu::multiply(rows_.a, p, gpu::row_order::any);
  device_matrix part = gpu::multiply(r_, t, gpu::row_order::sorted);
  r_ = top_of(std::move(r_), names.own());
  return part;
}

template <class W> level_of_rank<W> kit_on_gpus::keep(double scale, double lambda) {
  const auto rounded = [](device_matrix&& a, double by) {
    auto values = rounded_values<W>(a.val, by);
    return amg::rows<W, gpu_array>{a.shape, std::move(a.row_ptr), std::move(a.col), std::move(values)};
  };
  level_of_rank<W> l;
  level<W, gpu_array>& near = l.near;
  near.a.shape = own_.shape, near.lambda = lambda;
  const index_t n = own_.shape.rows, own = r_.shape.rows;
  if (own > 0) { // without aggregates no row reaches into those of others
    l.p = kept<W>(far_block(p_, n, own), 1), l.r = kept<W>(std::exchange(far_r_, {}), 1);
    near.p = rounded(own_block(std::exchange(p_, {}), own), 1), near.r = rounded(std::exchange(r_, {}), 1);
  }
  near.inverse = rounded_values<W>(inverse_, 1 / scale);
  if (n > 0) near.diagonals = by_diagonals<W>(own_, scale);
  if (!near.by_diagonals()) near.a = rounded(std::exchange(own_, {}), scale);
  l.a = kept<W>(std::exchange(far_, {}), scale);
  l.plan = rows_.plan, l.way = std::exchange(way_, {});
  return l;
}
template level_of_rank<double> kit_on_gpus::keep(double, double);
template level_of_rank<float> kit_on_gpus::keep(double, double);

void kit_on_gpus::go_down() {
  own_ = {}, diagonal_ = {}, inverse_ = {}, scale_ = {};
  coarse_.plan = plan_halo(c_, coarse_.begins, std::move(coarse_.plan.columns));
  rows_ = std::exchange(coarse_, {});
}

} // namespace furrow::amg
