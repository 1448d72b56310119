// SPDX-License-Identifier: BSD-3-Clause
#include "operator.hpp"

#include "far_rows.hpp"

#include "core/row_offsets.hpp"

#include <array>
#include <utility>

namespace furrow::gpu {
namespace {

template <class V, int N> struct far_sums : sum_target<N> { const V* u[N ? N : 1]; };

/// more[k] <- alpha times row k of the far part, and what that adds to sums of y . u. W threads a row.
template <class V, int W, int N>
__global__ void __launch_bounds__(far_threads)
    far_kernel(far_part<V> a, arriving<V> x, V alpha, V* more, far_sums<V, N> to) {
  a.template take_turn_with_rows<W>();
  const elements_of_others<V> there(x);
  double mine[N ? N : 1] = {};
  const index_t groups = index_t(gridDim.x) * (far_threads / W);
  const int lane = int(threadIdx.x) % W;
  for (index_t k = (index_t(blockIdx.x) * far_threads + threadIdx.x) / W; k < a.rows; k += groups) {
    const V sum = alpha * a.template sum_of<W>(k, lane, there);
    if (lane != 0) continue;
    more[k] = sum;
    const std::int32_t row = a.row_of[k];
#pragma unroll
    for (int s = 0; s < N; ++s) mine[s] += double(to.u[s][row]) * double(sum);
  }
  finish<far_threads, N>(mine, to);
}

/// y[row] += more, and where there is a sum the first block adds over the ranks.
template <class V>
__global__ void __launch_bounds__(far_threads)
    add_far_kernel(index_t rows, const std::int32_t* row_of, const V* more, view<V> y, mailboxes all, few_sums sums) {
  take_turn();
  const unsigned others = sums.count > 0 ? 1 : 0;
  if (blockIdx.x < others) return add_over_ranks(all, sums);
  const index_t stride = index_t(gridDim.x - others) * far_threads;
  for (index_t k = index_t(blockIdx.x - others) * far_threads + threadIdx.x; k < rows; k += stride)
    y[row_of[k]] += more[k];
}

/// Mostly in the last microseconds of the product with the own columns, whose blocks have the device till then.
template <int N, class V>
void launch_far(const queue& q, const far_part<V>& a, const arriving<V>& x, V alpha, V* more, double entries,
                const far_sums<V, N>& to) {
  const auto go = [&](auto kernel, int width) {
    launch(kernel, blocks_for(a.rows * width, far_threads, q, far_blocks), far_threads, 0, q, a, x, alpha, more, to);
  };
  if (entries > long_far_row * double(a.rows)) go(far_kernel<V, 4, N>, 4);
  else go(far_kernel<V, 1, N>, 1);
}

/// While it lives no kernel of this queue comes early: its blocks would take the places of those of the stream beside.
class one_after_the_other {
public:
  one_after_the_other() : before_(std::exchange(current_queue().early_launch, false)) {}
  one_after_the_other(const one_after_the_other&) = delete;
  ~one_after_the_other() { current_queue().early_launch = before_; }

private:
  bool before_;
};

} // namespace

template <class V>
rank_operator_on_gpu<V>::rank_operator_on_gpu(communicator& c, rows_of_rank<V>& rows,
                                              std::unique_ptr<any_operator<V>> own, link& between,
                                              std::unique_ptr<halo_on_gpu<V>> halo)
    : base(c, rows, std::move(own)), where_(c.where()), link_(between),
      begins_(offsets_of_rows<index_t>(rows.far.row, rows.far.shape.rows)), columns_(rows.far.col),
      rows_there_(far_rows_), values_(rows.far.val), halo_there_(std::move(halo)), of_far_(far_rows_.size()), sums_(7),
      partial_(2 * far_blocks * index_t(current_queue().multiprocessors)), arrived_(1) {
  fill_bytes(sums_, 0);
  fill_bytes(arrived_, 0);
  rows.far = {};
}

template <class V>
template <std::size_t... K>
void rank_operator_on_gpu<V>::multiply_far(const queue& q, V alpha, const V* const* u,
                                           std::index_sequence<K...>) const {
  constexpr int N = int(sizeof...(K));
  const arriving<V> x = halo_there_->finish();
  if (far_rows_.empty() && x.when.neighbours == 0) return; // the shares stay 0
  const far_part<V> a{far_rows_.size(), begins_.data(), columns_.data(), rows_there_.data(), values_.data()};
  const far_sums<V, N> to{{{at(5 + int(K))...}, scratch(partial_), scratch(arrived_)}, {u[K]...}};
  launch_far<N>(q, a, x, alpha, scratch(of_far_), double(values_.size()), to);
}

template <class V>
void rank_operator_on_gpu<V>::multiply_far(const queue& q, V alpha, std::span<const V* const> u) const {
  if (u.empty()) multiply_far(q, alpha, u.data(), std::index_sequence<>{});
  if (u.size() == 1) multiply_far(q, alpha, u.data(), std::make_index_sequence<1>{});
  if (u.size() == 2) multiply_far(q, alpha, u.data(), std::make_index_sequence<2>{});
}

/// The far part runs beside the own one where its kernel waits for the neighbours, and behind it otherwise; `own`
/// enqueues the own one.
template <class V>
template <class Own>
void rank_operator_on_gpu<V>::multiply(V alpha, cview<V> x, std::span<const V* const> u, Own own) const {
  const queue& q = current_queue();
  if (!halo_there_->waits_inside()) {
    halo_there_->start(x, q);
    own();
    return multiply_far(q, alpha, u);
  }
  queue beside = q;
  beside.stream = beside_.get(), beside.early_launch = false; // its first kernel follows another stream
  beside_.fork(q);
  halo_there_->start(x, beside);
  beside.early_launch = q.early_launch;
  multiply_far(beside, alpha, u);
  beside_.end();
  {
    const one_after_the_other here;
    own();
  }
  beside_.join(q);
}

/// y += what `multiply` has found of the far part, when it is there; with sums that are to be added over the ranks by
/// the same kernel.
template <class V> void rank_operator_on_gpu<V>::add_far(view<V> y, const mailboxes* all, const few_sums& sums) const {
  const index_t rows = far_rows_.size();
  if (rows == 0 && !halo_there_->waits_inside()) return;
  queue q = current_queue();
  q.early_launch = false; // it follows another stream, too
  launch(add_far_kernel<V>, blocks_for(rows, far_threads, q, 2) + (all ? 1 : 0), far_threads, 0, q, rows,
         rows_there_.data(), static_cast<const V*>(of_far_.data()), y, all ? *all : mailboxes{},
         all ? sums : few_sums{});
}

template <class V> void rank_operator_on_gpu<V>::do_apply(V alpha, cview<V> x, V beta, view<V> y) const {
  const auto own = [&] {
    if (own_) own_->apply(alpha, x, beta, y);
  };
  if (alpha == V(0)) return own();
  multiply(alpha, x, {}, own);
  add_far(y, nullptr, {});
}

template <class V> void rank_operator_on_gpu<V>::do_apply_dot(cview<V> x, view<V> y, slot xy) const {
  do_apply_with(x, y, {{}, {x, xy}});
}

/// As on processors: y . y is summed behind the far part, since there nearly all of the own part may cancel.
template <class V> void rank_operator_on_gpu<V>::do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const {
  using gram = typename epilogue<V>::gram;
  const int count = e.count();
  const bool has_far = !far_rows_.empty();
  const bool of_itself = has_far && (e.all.to.at || (e.one.to.at && e.one.u.data == y.data)); // y . y, the first sum
  epilogue<V> with_sums = e;
  if (e.one.to.at) with_sums.one.to = at(0);
  if (e.all.to.at) with_sums.all.to = at(0);
  few_sums all{{}, count};
  for (int k = 0; k < count; ++k) all.of[k] = {{(e.all.to.at ? e.all.to.at : e.one.to.at) + k}, at(k), {}};
  std::array<const V*, 2> u{};
  std::size_t shares = 0;
  const auto is_shared = [&](int k, cview<V> with) {
    all.of[k].more = at(5 + int(shares));
    u[shares++] = with.data;
  };
  if (has_far && e.one.to.at && !of_itself) is_shared(0, e.one.u);
  if (has_far && e.all.to.at) is_shared(gram::yu, e.all.u), is_shared(gram::yw, e.all.w);
  const mailboxes* const in_kernel = has_far && !of_itself ? link_.in_kernels() : nullptr;
  multiply(V(e.b.data ? -1 : 1), x, {u.data(), shares}, [&] {
    if (own_) own_->apply_with(x, y, with_sums);
  });
  add_far(y, in_kernel, all);
  if (of_itself) space<V>{}.dot(y, y, at(gram::yy)); // in place of that of the own part
  if (count > 0 && !in_kernel) link_.add({all.of, std::size_t(count)});
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
