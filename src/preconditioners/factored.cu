// SPDX-License-Identifier: BSD-3-Clause
#include "factored.hpp"
#include "moved_vector.hpp"
#include "stop.hpp"

#include "backends/gpu/space.hpp"

#include <furrow/value.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace furrow {
namespace factored_detail {

/// An element that is not there yet: a NaN that no arithmetic makes.
template <class V> FURROW_HD V not_yet() {
  const unsigned long long bits = is_wide<V> ? 0x7ff8feedfacecafeull : 0x7fc0f00dull;
  V v;
  memcpy(&v, &bits, sizeof(V)); // the low bytes
  return v;
}
template <class V> __device__ bool is_there(V v) {
  if constexpr (is_wide<V>) return __double_as_longlong(v) != __double_as_longlong(not_yet<V>());
  else return __float_as_int(v) != __float_as_int(not_yet<V>());
}

/// A factor on the GPU, rows in the order in which they are taken.
template <class V> struct factor_view {
  index_t rows;
  const std::int32_t* row; ///< taken k-th
  const index_t* row_ptr;
  const std::int32_t* col;
  const V* val;
  const V* inverse; ///< of the diagonal, by k; null: ones
  unsigned* ticket;
};

/// Rows under way: more of them would only read again and again what is not there yet. Twice as many take 1.2 times as
/// long on poisson3d:100, all that fit on the device 3 times.
constexpr int threads = 128, blocks_an_sm = 2;
/// Entries a row from which a warp takes it.
constexpr index_t long_row = 32;

/// The number of the next piece of rows, for a block: those that it waits for are in pieces that were handed out
/// before, to blocks that run. `pieces` or more: there are none left.
__device__ inline unsigned next_piece(unsigned* ticket, unsigned pieces) {
  __shared__ unsigned number;
  __syncthreads();
  if (threadIdx.x == 0) {
    number = atomicAdd(ticket, 1u);
    if (number == pieces + gridDim.x - 1) *ticket = 0; // the last block to ask; for the next solve
  }
  __syncthreads();
  return number;
}

template <class V> __device__ V element(const V* x, index_t i) { return *const_cast<const volatile V*>(x + i); }
template <class V> __device__ void finish_row(const factor_view<V>& t, index_t k, index_t row, V sum, V* x) {
  if (t.inverse) sum *= t.inverse[k];
  if (!is_there(sum)) sum = V(0) / V(0); // a payload that came in with b
  *const_cast<volatile V*>(x + row) = sum;
}

/// x = T^-1 b, a thread a row; x holds `not_yet` everywhere.
template <class V>
__global__ void __launch_bounds__(threads) solve_by_threads(factor_view<V> t, const V* b, V* x, unsigned pieces) {
  gpu::take_turn();
  for (unsigned piece; (piece = next_piece(t.ticket, pieces)) < pieces;) {
    const index_t k = index_t(piece) * threads + threadIdx.x;
    if (k >= t.rows) continue;
    const index_t row = t.row[k], last = t.row_ptr[k + 1];
    index_t e = t.row_ptr[k];
    V sum = b[row];
    for (bool done = false; !done;) { // a row is finished inside of the loop, for others of its warp may wait for it
      for (; e < last; ++e) {
        const V value = element(x, t.col[e]);
        if (!is_there(value)) break;
        sum -= t.val[e] * value;
      }
      if ((done = e == last)) finish_row(t, k, row, sum, x);
    }
  }
}

/// The same, a warp a row.
template <class V>
__global__ void __launch_bounds__(threads) solve_by_warps(factor_view<V> t, const V* b, V* x, unsigned pieces) {
  gpu::take_turn();
  const int lane = int(threadIdx.x) % gpu::warp;
  for (unsigned piece; (piece = next_piece(t.ticket, pieces)) < pieces;) {
    const index_t k = (index_t(piece) * threads + threadIdx.x) / gpu::warp;
    if (k >= t.rows) continue;
    const index_t row = t.row[k], last = t.row_ptr[k + 1];
    V sum = 0;
    for (index_t e = t.row_ptr[k] + lane; e < last; e += gpu::warp) {
      V value = element(x, t.col[e]);
      while (!is_there(value)) value = element(x, t.col[e]);
      sum += t.val[e] * value;
    }
    sum = gpu::sum_lanes<gpu::warp>(sum);
    if (lane == 0) finish_row(t, k, row, b[row] - sum, x);
  }
}

/// Levels of both factors from which an application takes some 28 ms: a step is nothing to record then, and the host
/// drives a loop in which a person or the clock is heard behind each.
constexpr index_t many_levels = 20000;

/// The rows of a factor by levels, so that no row comes before one that it needs; `levels`: how many there are.
template <class V> std::vector<std::int32_t> order_by_levels(const row_matrix<V>& t, triangle side, index_t& levels) {
  const index_t n = t.shape.rows;
  const auto level = levels_of(t, side);
  const std::int32_t most = n > 0 ? *std::max_element(level.begin(), level.end()) : 0;
  levels = n > 0 ? index_t(most) + 1 : 0;
  std::vector<index_t> begin(static_cast<std::size_t>(most) + 2, 0);
  for (const std::int32_t l : level) ++begin[std::size_t(l) + 1];
  for (std::size_t l = 1; l < begin.size(); ++l) begin[l] += begin[l - 1];
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) order[std::size_t(begin[std::size_t(level[std::size_t(i)])]++)] = std::int32_t(i);
  return order;
}

template <class V> class factor {
public:
  factor(const row_matrix<V>& t, const host_array<V>& inverse, triangle side) : rows_(t.shape.rows) {
    const auto order = order_by_levels(t, side, levels_);
    host_array<std::int32_t> row(rows_), col(t.nnz());
    host_array<index_t> row_ptr(rows_ + 1);
    host_array<V> val(t.nnz()), moved(inverse.size());
    index_t next = 0;
    for (index_t k = 0; k < rows_; ++k) {
      stops_set_up::at_row(k);
      const index_t i = order[std::size_t(k)];
      row[k] = std::int32_t(i);
      row_ptr[k] = next;
      for (index_t e = t.row_ptr[i]; e < t.row_ptr[i + 1]; ++e, ++next) {
        col[next] = t.col[e];
        val[next] = t.val[e];
      }
      if (!moved.empty()) moved[k] = inverse[i];
    }
    row_ptr[rows_] = next;
    row_ = gpu_array<std::int32_t>(row);
    row_ptr_ = gpu_array<index_t>(row_ptr);
    col_ = gpu_array<std::int32_t>(col);
    val_ = gpu_array<V>(val);
    inverse_ = gpu_array<V>(moved);
    ticket_ = gpu_array<std::uint32_t>(host_array<std::uint32_t>(1, 0u));
  }

  void solve(cview<V> b, view<V> x) const {
    if (rows_ == 0) return;
    const factor_view<V> t{rows_,         row_.data(), row_ptr_.data(),
                           col_.data(),   val_.data(), inverse_.empty() ? nullptr : inverse_.data(),
                           ticket_.data()};
    const bool by_warps = val_.size() >= long_row * rows_;
    const index_t lanes = rows_ * (by_warps ? gpu::warp : 1), pieces = (lanes + threads - 1) / threads;
    gpu::queue& q = gpu::current_queue();
    gpu::launch(by_warps ? solve_by_warps<V> : solve_by_threads<V>, gpu::blocks_for(lanes, threads, q, blocks_an_sm),
                threads, 0, q, t, b.data, x.data, unsigned(pieces));
  }
  double stored_bytes() const {
    return double(row_.byte_count() + row_ptr_.byte_count() + col_.byte_count() + val_.byte_count() +
                  inverse_.byte_count());
  }

  index_t levels() const { return levels_; }

private:
  index_t rows_, levels_ = 0;
  gpu_array<std::int32_t> row_, col_;
  gpu_array<index_t> row_ptr_;
  gpu_array<V> val_, inverse_;
  mutable gpu_array<std::uint32_t> ticket_;
};

/// w[i] = scale[i] r[from[i]]; marks two vectors as not yet known.
template <class V> struct gather_step {
  static constexpr int reads = 2, writes = 3;
  cview<V> r;
  const std::int32_t* from; ///< null: i
  const double* scale;      ///< null: 1
  view<V> w, first, second; ///< w may be empty
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const {
    const V value = r[from ? index_t(from[i]) : i];
    return scale ? V(scale[i] * double(value)) : value;
  }
  FURROW_HD void operator()(index_t i, V value, sums<0>) const {
    if (w.data) w[i] = value;
    first[i] = second[i] = not_yet<V>();
  }
};

template <class V> class factored final : public any_preconditioner<V> {
public:
  explicit factored(triangular_factors<V> f)
      : lower_(f.lower, f.lower_inverse, triangle::lower), upper_(f.upper, f.upper_inverse, triangle::upper),
        row_(f.moved.row), place_(f.moved.place), col_scale_(f.moved.col_scale), about_(std::move(f.about)),
        between_(f.lower.shape.rows) {
    const index_t n = between_.size();
    if (!f.moved.row_scale.empty()) {
      host_array<double> scale(n); // by the row that stands there
      for (index_t i = 0; i < n; ++i) scale[i] = f.moved.row_scale[f.moved.row.empty() ? i : index_t(f.moved.row[i])];
      row_scale_ = gpu_array<double>(scale);
    }
    if (moves()) {
      given_ = gpu_array<V>(n);
      result_ = gpu_array<V>(n);
    }
  }

  void apply(cview<V> r, view<V> z) const override {
    gpu::space<V> space;
    const view<V> given = as_view(given_), between = as_view(between_), result = moves() ? as_view(result_) : z;
    space.sweep(r.size, gather_step<V>{r, data_of(row_), data_of(row_scale_), given, between, result});
    lower_.solve(moves() ? as_cview(given_) : r, between);
    upper_.solve(as_cview(between_), result);
    if (moves()) space.sweep(r.size, move_step<V>{as_cview(result_), data_of(place_), data_of(col_scale_), z});
  }
  bool waits() const override { return lower_.levels() + upper_.levels() > many_levels; }
  double stored_bytes() const override {
    return lower_.stored_bytes() + upper_.stored_bytes() +
           double(row_.byte_count() + place_.byte_count() + row_scale_.byte_count() + col_scale_.byte_count() +
                  given_.byte_count() + between_.byte_count() + result_.byte_count());
  }
  std::string describe() const override { return about_; }

private:
  bool moves() const { return !row_.empty() || !row_scale_.empty() || !col_scale_.empty(); }
  template <class T> static const T* data_of(const gpu_array<T>& a) { return a.empty() ? nullptr : a.data(); }

  factor<V> lower_, upper_;
  gpu_array<std::int32_t> row_, place_;
  gpu_array<double> row_scale_, col_scale_;
  std::string about_;
  mutable gpu_array<V> given_, between_, result_;
};

} // namespace factored_detail

template <class V> std::unique_ptr<any_preconditioner<V>> factored_on_gpu(triangular_factors<V> f) {
  return std::make_unique<factored_detail::factored<V>>(std::move(f));
}
template std::unique_ptr<any_preconditioner<double>> factored_on_gpu(triangular_factors<double>);
template std::unique_ptr<any_preconditioner<float>> factored_on_gpu(triangular_factors<float>);

} // namespace furrow
