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

/// A wait for the GPU is 10 us, of some 1,000 to 50,000 of a level.
void kit_on_gpus::ends(std::string_view part) {
  gpu::wait(gpu::current_queue());
  clock_.end(part);
}

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
  host_array<double> of_border;
  together(c_, [&] {
    rows_sent_ = gpu_array<std::int32_t>(rows_.plan.rows_sent);
    if (n == 0) return;
    inverse_ = inverse_of(diagonal_);
    most = std::max(most, gershgorin(view_of(rows_.a), inverse_));
    scale_ = scales_of(diagonal_, rows_.plan.columns.size());
    of_border = picked(scale_, rows_sent_);
  });
  of_border = exchange_elements(c_, way_of_rows::there(rows_.plan), as_cview(of_border));
  together(c_, [&] { append(scale_, of_border); });
  most = c_.max(most);
  if (most > dominant_rows) {
    together(c_, [&] { own_ = without_far<double>(rows_.a, rows_.far, n, 1); });
    most = largest_ritz_bound(most);
  }
  ends("look");
  return most;
}

/// By a Lanczos run of all ranks, whose sums are theirs: they take the same steps.
double kit_on_gpus::largest_ritz_bound(double most) const {
  const auto halo = between_.make_halo(rows_.plan, double());
  const auto product = [&](cview<double> x, lanczos_step::keep_product keep) {
    const gpu::queue& q = gpu::current_queue();
    halo->start(x, q);
    if (own_.shape.rows > 0) row_pass(q, own_, cview<double>{}, 1, x, keep);
    far_pass(q, rows_.far.seen(), double(rows_.far.values.size()), halo->finish(), gpu_kit::add_to_product{keep.w});
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
    ends("aggregates");
  });
  coarse_ = {};
  coarse_.begins = {0};
  for (const index_t count : gather_each(c_, found.count)) coarse_.begins.push_back(coarse_.begins.back() + count);
  if (coarse_unknowns() == 0 || double(coarse_unknowns()) > most) return false;
  coarse_.first = coarse_.begins[static_cast<std::size_t>(c_.rank())];

  columns_there names{coarse_.first, found.count, {}, {}};
  host_array<std::int32_t> numbers;
  together(c_, [&] {
    numbers = picked(found.of, rows_sent_);
    for (std::int32_t& k : numbers)
      if (k >= 0) k += static_cast<std::int32_t>(names.first);
  });
  numbers = exchange_elements(c_, there, as_cview(numbers));
  loose_rows mine, come;
  host_array<std::int32_t> of_others;
  together(c_, [&] {
    ends("borders");
    prolong(std::move(found), numbers, theta, omega, names);
    ends("prolong");
    mine = at_home(loosened(picked_rows(p_, rows_sent_), names.seen()));
    of_others = host_array<std::int32_t>(names.others);
    r_ = names.own > 0 ? gpu::transposed(p_) : empty_rows({0, n}); // while rows of P are on their way
  });
  way_ = plan_halo(c_, coarse_.begins, std::move(of_others));

  come = exchange_rows(c_, there, mine);
  device_matrix part;
  together(c_, [&] {
    const loose_rows_there theirs = sent(come);
    ends("borders");
    part = multiply(theirs, names);
    ends("products");
    mine = at_home(loosened_from(part, names.own, names.seen()));
  });
  come = exchange_rows(c_, way_of_rows::back(way_), mine);
  together(c_, [&] {
    const loose_rows_there theirs = sent(come);
    ends("borders");
    completed_rows all = completed(part, names, theirs, gpu_array<std::int32_t>(way_.rows_sent));
    coarse_.a = std::move(all.a), coarse_.far = std::move(all.far);
    coarse_.plan.columns = host_array<std::int32_t>(all.columns);
    ends("complete");
  });
  coarse_entries_ = static_cast<index_t>(c_.sum(double(coarse_.a.val.size())));
  return true;
}

/// P. numbers: of the aggregates that elements of others are in, or -1; their names are added.
void kit_on_gpus::prolong(device_aggregates found, const host_array<std::int32_t>& numbers, double theta, double omega,
                          columns_there& names) {
  if (omega == 0 || names.own == 0) {
    p_ = names.own == 0 ? empty_rows({rows_.a.shape.rows, 0}) : constants(found);
    return;
  }
  const index_t n = found.of.size();
  append(found.of, numbers);
  const view<std::int32_t> of_others(found.of.data() + n, numbers.size());
  names.others = others_among(as_cview(of_others), names.seen());
  name_here(of_others, names.seen());
  found.count = names.count();
  p_ = prolongation_of_part(view_of(rows_.a), scale_, theta, std::move(found), inverse_, omega);
}

/// P'A P of what the rank has of both: rows of its own aggregates, and behind them of those of others that P reaches
/// into. others: rows of P of elements of others, whose columns are named behind those that are known.
device_matrix kit_on_gpus::multiply(const loose_rows_there& others, columns_there& names) {
  const index_t n = rows_.a.shape.rows, entries = p_.val.size();
  const shape2 shape = p_.shape;
  far_r_ = far_block(r_, 0, n);
  if (names.own == 0) return empty_rows({0, 0});
  names.more = others_among(as_cview(others.col), names.seen());
  const device_matrix of_others = named(others, names);
  append(p_, of_others);
  const auto t = gpu::multiply(rows_.a, p_, gpu::row_order::any);
  p_.shape = shape, p_.row_ptr.resize(n + 1), p_.col.resize(entries), p_.val.resize(entries);
  device_matrix part = gpu::multiply(r_, t, gpu::row_order::sorted);
  r_ = top_of(std::move(r_), names.own);
  far_r_ = transposed_far(own_block(of_others, names.own));
  return part;
}

template <class W> level_of_rank<W> kit_on_gpus::keep(double scale, double lambda) {
  level_of_rank<W> l;
  level<W, gpu_array>& near = l.near;
  const index_t n = rows_.a.shape.rows, own = r_.shape.rows;
  near.a.shape = {n, n}, near.lambda = lambda;
  if (own > 0) {                                              // without aggregates no row reaches into those of others
    const gpu_array<std::int32_t>& border = rows_.far.row_of; // other rows of P have aggregates of this rank alone
    far_rows<double> far_p = far_block_of(picked_rows(p_, border), border, own);
    near.p = without_far<W>(std::exchange(p_, {}), far_p, own, 1);
    near.r = without_far<W>(std::exchange(r_, {}), {}, n, 1);
    l.p = kept<W>(std::move(far_p), 1), l.r = kept<W>(std::exchange(far_r_, {}), 1);
  }
  near.inverse = rounded_values<W>(inverse_, 1 / scale);
  if (n > 0) {
    device_view square = view_of(rows_.a);
    square.shape = {n, n};
    near.diagonals = by_diagonals<W>(square, rows_.a.val.size() - rows_.far.values.size(), scale);
  }
  if (!near.by_diagonals()) {
    if (own_.shape.rows == 0) near.a = without_far<W>(std::move(rows_.a), rows_.far, n, scale);
    else near.a = without_far<W>(std::exchange(own_, {}), {}, n, scale);
  }
  l.a = kept<W>(std::move(rows_.far), scale);
  l.plan = rows_.plan, l.way = std::exchange(way_, {});
  ends("keep");
  return l;
}
template level_of_rank<double> kit_on_gpus::keep(double, double);
template level_of_rank<float> kit_on_gpus::keep(double, double);

void kit_on_gpus::go_down() {
  own_ = {}, diagonal_ = {}, inverse_ = {}, scale_ = {}, rows_sent_ = {};
  coarse_.plan = plan_halo(c_, coarse_.begins, std::move(coarse_.plan.columns));
  rows_ = std::exchange(coarse_, {});
  ends("keep");
}

} // namespace furrow::amg
