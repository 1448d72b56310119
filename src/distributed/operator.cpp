// SPDX-License-Identifier: BSD-3-Clause
#include "operator.hpp"

#include "side_by_side.hpp"

#include "backends/cpu/space.hpp"
#include "core/clock.hpp"

#include <furrow/stats.hpp>

#include <algorithm>

namespace furrow {
namespace {

/// y[row[k]] += alpha t[k].
template <class V> struct add_far {
  static constexpr int reads = 2, writes = 1;
  struct values {
    V t;
    std::int32_t row;
  };
  const std::int32_t* rows;
  V alpha;
  cview<V> t;
  view<V> y;
  void load() {}
  values at(index_t k) const { return {t[k], rows[k]}; }
  void operator()(index_t, values v, sums<0>) const { y[v.row] += alpha * v.t; }
};

/// The sum of u[row[k]] alpha t[k]: what `add_far` adds to y . u.
template <class V> struct far_sum {
  static constexpr int reads = 2, writes = 0;
  const std::int32_t* rows;
  V alpha;
  cview<V> t, u;
  void load() {}
  double at(index_t k) const { return double(u[rows[k]]) * double(alpha * t[k]); }
  void operator()(index_t, double product, sums<1> sum) const { sum[0] += product; }
};

} // namespace

template <class V>
operator_of_rank<V>::operator_of_rank(communicator& c, rows_of_rank<V>& rows, std::unique_ptr<any_operator<V>> own)
    : c_(c), rows_(rows.own.shape.rows), far_columns_(rows.plan.columns.size()), own_(std::move(own)),
      far_rows_(std::move(rows.far_rows)), halo_(c, rows.plan) {}

template <class V> cview<V> operator_of_rank<V>::finish_halo() const {
  const double began = now();
  const cview<V> there = halo_.finish();
  waited_ += now() - began;
  return there;
}

template <class V>
rank_operator<V>::rank_operator(communicator& c, rows_of_rank<V>& rows, std::unique_ptr<any_operator<V>> own)
    : base(c, rows, std::move(own)), of_far_(rows.far.shape.rows) {
  if (rows.far.nnz() == 0) return;
  const choice rows_by_rows = choose(measure(rows.far), precision_of<V>, device{}, {.format = "csr"});
  far_ = make(rows_by_rows, device{}, std::move(rows.far));
}

template <class V> void rank_operator<V>::do_apply(V alpha, cview<V> x, V beta, view<V> y) const {
  if (alpha != V(0)) halo_.start(x);
  if (own_) own_->apply(alpha, x, beta, y);
  if (alpha == V(0)) return;
  const cview<V> there = finish_halo();
  if (!far_) return;
  far_->apply(V(1), there, V(0), as_view(of_far_));
  cpu::space<V>{}.sweep(of_far_.size(), add_far<V>{far_rows_.data(), alpha, as_cview(of_far_), y});
}

template <class V> void rank_operator<V>::do_apply_dot(cview<V> x, view<V> y, slot xy) const {
  do_apply_with(x, y, {{}, {x, xy}});
}

/// What the far part adds to y . u is added to it; y . y is summed behind it, since there nearly all of the own part
/// may cancel, as in a small b - A x.
template <class V> void rank_operator<V>::do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const {
  using gram = typename epilogue<V>::gram;
  double sums[gram::count] = {};
  halo_.start(x);
  epilogue<V> own = e;
  if (e.one.to.at) own.one.to = {sums};
  if (e.all.to.at) own.all.to = {sums};
  if (own_) own_->apply_with(x, y, own);
  const cview<V> there = finish_halo();
  if (far_) {
    const V alpha(e.b.data ? -1 : 1);
    cpu::space<V> space;
    far_->apply(V(1), there, V(0), as_view(of_far_));
    space.sweep(of_far_.size(), add_far<V>{far_rows_.data(), alpha, as_cview(of_far_), y});
    const auto complete = [&](cview<V> u, double& sum) {
      double more = 0;
      if (u.data == y.data) {
        sum = 0;
        space.dot(y, y, {&more});
      } else space.sweep(of_far_.size(), far_sum<V>{far_rows_.data(), alpha, as_cview(of_far_), u}, slot{&more});
      sum += more;
    };
    if (e.one.to.at) complete(e.one.u, sums[0]);
    if (e.all.to.at) {
      complete(y, sums[gram::yy]);
      complete(e.all.u, sums[gram::yu]);
      complete(e.all.w, sums[gram::yw]);
    }
  }
  c_.sum({sums, e.count()});
  std::copy_n(sums, e.count(), e.all.to.at ? e.all.to.at : e.one.to.at);
}

template <class V> host_array<V> operator_of_rank<V>::with_others(cview<V> x) const {
  halo_.start(x);
  const cview<V> there = finish_halo();
  host_array<V> all(x.size + there.size);
  std::ranges::copy(x, all.begin());
  std::ranges::copy(there, all.begin() + x.size);
  return all;
}

template <class V> coo<V> operator_of_rank<V>::own_block() const {
  if (!own_) return {};
  auto told = own_->to_triplets();
  require(told.has_value(), "every format gives back its triplets");
  return std::move(*told);
}

template <class V> coo<V> operator_of_rank<V>::far_block() const {
  auto told = far_triplets();
  require(told.has_value(), "every format gives back its triplets");
  told->shape = {far_rows_.size(), far_columns_}; // also where a rank has none of these entries
  return std::move(*told);
}

template <class V> double operator_of_rank<V>::stored_bytes() const {
  return (own_ ? own_->stored_bytes() : 0) + far_bytes() + 4 * double(far_rows_.size());
}

/// Beside the parts' own bytes a row of `far` is read and written once more in y, and read in x.
template <class V> double operator_of_rank<V>::bytes_per_apply() const {
  const double again = far_bytes_per_apply() + 3 * double(sizeof(V)) * double(far_rows_.size());
  return (own_ ? own_->bytes_per_apply() : 0) + again;
}

template <class V> std::optional<coo<V>> operator_of_rank<V>::to_triplets() const {
  coo<V> own{{rows_, rows_}, {}, {}, {}};
  if (own_) {
    auto told = own_->to_triplets();
    if (!told) return {};
    own = std::move(*told);
  }
  return side_by_side(own, far_block(), as_cview(far_rows_));
}

template class operator_of_rank<double>;
template class operator_of_rank<float>;
template class rank_operator<double>;
template class rank_operator<float>;

} // namespace furrow
