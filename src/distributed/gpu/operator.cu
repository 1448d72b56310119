// SPDX-License-Identifier: BSD-3-Clause
#include "operator.hpp"

#include "far_rows.hpp"

#include "core/row_offsets.hpp"

#include <array>
#include <utility>

namespace furrow::gpu {
namespace {

template <class V, int N> struct far_sums : sum_target<N> { const V* u[N ? N : 1]; };

/// W threads a row.
template <class V, int W, int N>
__global__ void __launch_bounds__(far_threads)
    far_kernel(far_part<V> a, arriving<V> x, V alpha, view<V> y, far_sums<V, N> to) {
  take_turn();
  const V* const there = elements_of_others(x);
  double mine[N ? N : 1] = {};
  const index_t groups = index_t(gridDim.x) * (far_threads / W);
  const int lane = int(threadIdx.x) % W;
  for (index_t k = (index_t(blockIdx.x) * far_threads + threadIdx.x) / W; k < a.rows; k += groups) {
    const V sum = a.template sum_of<W>(k, lane, there);
    if (lane != 0) continue;
    const std::int32_t row = a.row_of[k];
    const V more = alpha * sum;
    y[row] += more;
#pragma unroll
    for (int s = 0; s < N; ++s) mine[s] += double(to.u[s][row]) * double(more);
  }
  finish<far_threads, N>(mine, to);
}

template <class V, int N, std::size_t... K>
void launch_far(const far_part<V>& a, const arriving<V>& x, V alpha, view<V> y,
                [[maybe_unused]] std::span<const cview<V>> u, [[maybe_unused]] std::span<const slot> share,
                double entries, std::index_sequence<K...>) {
  const queue& q = current_queue();
  far_sums<V, N> to{target(q, share[K]...), {u[K].data...}};
  const auto go = [&](auto kernel, int width) {
    launch(kernel, blocks_for(a.rows * width, far_threads, q, 4), far_threads, 0, q, a, x, alpha, y, to);
  };
  if (entries > long_far_row * double(a.rows)) go(far_kernel<V, 8, N>, 8);
  else go(far_kernel<V, 1, N>, 1);
}

} // namespace

template <class V>
rank_operator_on_gpu<V>::rank_operator_on_gpu(communicator& c, rows_of_rank<V>& rows,
                                              std::unique_ptr<any_operator<V>> own, link& between,
                                              std::unique_ptr<halo_on_gpu<V>> halo)
    : base(c, rows, std::move(own)), where_(c.where()), link_(between),
      begins_(offsets_of_rows<index_t>(rows.far.row, rows.far.shape.rows)), columns_(rows.far.col),
      rows_there_(far_rows_), values_(rows.far.val), halo_there_(std::move(halo)), sums_(5) {
  fill_bytes(sums_, 0);
  rows.far = {};
}

template <class V>
void rank_operator_on_gpu<V>::add_far(V alpha, view<V> y, std::span<const cview<V>> u,
                                      std::span<const slot> share) const {
  const arriving<V> x = halo_there_->finish();
  const auto rows = far_rows_.size();
  if (rows == 0 && x.when.neighbours == 0) return; // the shares stay 0
  const far_part<V> a{rows, begins_.data(), columns_.data(), rows_there_.data(), values_.data()};
  const auto entries = double(values_.size());
  if (u.size() == 0) launch_far<V, 0>(a, x, alpha, y, u, share, entries, std::index_sequence<>{});
  if (u.size() == 1) launch_far<V, 1>(a, x, alpha, y, u, share, entries, std::make_index_sequence<1>{});
  if (u.size() == 2) launch_far<V, 2>(a, x, alpha, y, u, share, entries, std::make_index_sequence<2>{});
}

template <class V> void rank_operator_on_gpu<V>::do_apply(V alpha, cview<V> x, V beta, view<V> y) const {
  if (alpha != V(0)) halo_there_->start(x);
  if (own_) own_->apply(alpha, x, beta, y);
  if (alpha != V(0)) add_far(alpha, y, {}, {});
}

template <class V> void rank_operator_on_gpu<V>::do_apply_dot(cview<V> x, view<V> y, slot xy) const {
  do_apply_with(x, y, {{}, {{x, xy}, {}}});
}

/// As on processors: y . y is summed behind the far part, since there nearly all of the own part may cancel.
template <class V> void rank_operator_on_gpu<V>::do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const {
  const int count = e.count();
  const bool has_far = !far_rows_.empty();
  const auto of_itself = [&](int k) { return has_far && e.sums[k].u.data == y.data; };
  halo_there_->start(x);
  epilogue<V> own = e;
  for (int k = 0; k < count; ++k) own.sums[k].to = of_itself(k) ? at(4) : at(k);
  if (own_) own_->apply_with(x, y, own);
  std::array<cview<V>, 2> u;
  std::array<slot, 2> share;
  std::array<sum_over_ranks, 2> all;
  std::size_t shares = 0;
  for (int k = 0; k < count; ++k) {
    all[std::size_t(k)] = {e.sums[k].to, at(k), {}};
    if (!has_far || of_itself(k)) continue;
    u[shares] = e.sums[k].u, all[std::size_t(k)].more = share[shares] = at(2 + k);
    ++shares;
  }
  add_far(V(e.b.data ? -1 : 1), y, {u.data(), shares}, {share.data(), shares});
  for (int k = 0; k < count; ++k)
    if (of_itself(k)) space<V>{}.dot(y, y, at(k));
  if (count > 0) link_.add({all.data(), std::size_t(count)});
}

template <class V> std::optional<coo<V>> rank_operator_on_gpu<V>::far_triplets() const {
  const host_array<index_t> begins(begins_);
  coo<V> far{{far_rows_.size(), base::far_columns_},
             host_array<std::int32_t>(values_.size()),
             host_array<std::int32_t>(columns_),
             host_array<V>(values_)};
  for (index_t row = 0; row < far.shape.rows; ++row)
    for (index_t k = begins[row]; k < begins[row + 1]; ++k) far.row[k] = static_cast<std::int32_t>(row);
  return far;
}

template <class V> double rank_operator_on_gpu<V>::far_bytes() const {
  return double(begins_.byte_count() + columns_.byte_count() + rows_there_.byte_count() + values_.byte_count());
}
/// The far entries, and the elements that they are multiplied with.
template <class V> double rank_operator_on_gpu<V>::far_bytes_per_apply() const {
  return far_bytes() + double(sizeof(V)) * double(base::far_columns_);
}

template class rank_operator_on_gpu<double>;
template class rank_operator_on_gpu<float>;

} // namespace furrow::gpu
