// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "shares.hpp"

#include "solvers/bicgstab/steps.hpp"
#include "solvers/cg_resident/sums.hpp"

#include <iterator>

namespace furrow::resident::stabilised {

/// Where the words of sums lie: those of r~'v for two steps by turns, since the judge may not have seen those of the
/// step before when others write the next ones, and his own word likewise.
struct sum_words {
  sum_word* all;
  static constexpr int count = (3 + product_count) * most_blocks + 2;

  __device__ sum_word* sigma(std::uint64_t stamp) const { return all + (stamp & 1) * most_blocks; }
  __device__ sum_word* rr() const { return all + 2 * most_blocks; }
  __device__ sum_word* of(int product) const { return all + (3 + product) * most_blocks; }
  __device__ sum_word* verdict(std::uint64_t stamp) const {
    return all + (3 + product_count) * most_blocks + (stamp & 1);
  }
};

/// Block 0 keeps no rows: it judges a step while the others make the next one.
template <class V, class Until> __device__ void judge_steps(const arguments<V>& g, const Until& until) {
  using namespace bicgstab_steps;
  if (threadIdx.x >= gpu::warp) return;
  const sum_words sums{g.sums};
  const bool writes = threadIdx.x == 0;
  const int blocks = static_cast<int>(gridDim.x);
  int stopped = 0;
  if (writes) {
    post(&sums.sigma(g.stamp + 1)->one, 0, g.stamp + 1);
    post(&sums.verdict(g.stamp)->one, 0, g.stamp);
  }
  for (long long step = 0;; ++step) {
    const std::uint64_t stamp = g.stamp + 1 + static_cast<std::uint64_t>(step);
    const double sigma_all = sum_of_all(sums.sigma(stamp), blocks, stamp);
    double of[product_count];
#pragma unroll
    for (int k = 0; k < product_count; ++k) of[k] = sum_of_all(sums.of(k) + 1, blocks - 1, stamp);
    const double rr_all = sum_of_all(sums.rr() + 1, blocks - 1, stamp);
    if (writes) {
      // From here on the others may write the sums of the next step.
      if (step + 1 < g.steps) post(&sums.sigma(stamp + 1)->one, 0, stamp + 1);
      g.slots[sigma] = sigma_all, g.slots[ts] = of[t_s], g.slots[tt] = of[t_t], g.slots[ss] = of[s_s];
      g.slots[t_shadow] = of[shadow_t], g.slots[s_shadow] = of[shadow_s], g.slots[control::rr] = rr_all;
      stopped = until();
      post(&sums.verdict(stamp)->one, stopped, stamp);
    }
    if (__shfl_sync(~0u, stopped, 0) || step + 1 == g.steps) break;
  }
}

/// Steps of BiCGStab, each with two ways through the second cache:
///
///   v = A p^;  r~'v                                       sums of all blocks, v of neighbours
///   alpha = r~'r / r~'v;  s = r - alpha v;  s^ = M s
///   t = A s^;  t's, t't, s's, r~'s, r~'t                   sums of all blocks, t of neighbours
///   omega = t's / t't;  x += alpha p^ + omega s^;  r = s - omega t;  r~'r = r~'s - omega r~'t
///   beta = r~'r / (omega r~'v);  p = r + beta (p - omega v);  p^ = M p
///
/// r, s and p of the halo are worked out from the same v and t as their owner's. r'r goes to the judge alone, whose
/// word on a step comes with the second sums of the next one, before x and p are touched: the step that is begun then
/// leaves no trace but in r, which nobody reads after an end. `until` is the judge of `iteration`. Needs in memory x,
/// r, p, r~ and slot rho, and leaves them so. Words of a step are written over when all blocks have posted what they
/// post after reading them.
template <class V, class Share, class Until>
__global__ void __launch_bounds__(threads, 1) steps_kernel(const __grid_constant__ arguments<V> g, Until until) {
  using namespace bicgstab_steps;
  constexpr int warps = threads / gpu::warp;
  extern __shared__ __align__(16) unsigned char room[];
  __shared__ double room_sigma[warps], room_of[product_count][warps], room_rr[warps], sigma_all, of[product_count];
  __shared__ bool stop;
  if (blockIdx.x == 0) return judge_steps(g, until);
  const sum_words sums{g.sums};
  const int blocks = static_cast<int>(gridDim.x), thread = static_cast<int>(threadIdx.x);
  const int warp = thread / gpu::warp, lane = thread % gpu::warp;
  const int adds = warp - (warps - product_count); // sums for the last warps, which have fewest elements to gather
  double rho_now = __ldcg(g.slots + rho);
  Share own(g, room);
  __syncthreads();
  for (long long step = 0; step < g.steps; ++step) {
    const std::uint64_t stamp = g.stamp + 1 + static_cast<std::uint64_t>(step);
    const double sigma_mine = gpu::sum_lanes<gpu::warp>(own.multiply_p(stamp));
    if (lane == 0) room_sigma[warp] = sigma_mine;
    __syncthreads();
    if (warp == 0) {
      const double mine = sum_of_warps(room_sigma);
      if (lane == 0) post(&sums.sigma(stamp)[blockIdx.x].one, mine, stamp);
      const double sum = sum_of_all(sums.sigma(stamp), blocks, stamp);
      if (lane == 0) sigma_all = sum;
    } else if (gathers() >= 0) own.gather_v(stamp);
    __syncthreads();
    const double over_sigma = sigma_all, alpha = over_sigma != 0 ? rho_now / over_sigma : 0;
    own.half(V(alpha));
    __syncthreads();
    products mine;
    own.multiply_s(stamp, mine);
#pragma unroll
    for (int k = 0; k < product_count; ++k) {
      const double sum = gpu::sum_lanes<gpu::warp>(mine.of[k]);
      if (lane == 0) room_of[k][warp] = sum;
    }
    __syncthreads();
    if (adds >= 0) {
      const double sum = sum_of_warps(room_of[adds]);
      if (lane == 0) post(&sums.of(adds)[blockIdx.x].one, sum, stamp);
    }
    if (gathers() >= 0) own.gather_t(stamp);
    if (adds >= 0) {
      const double sum = sum_of_all(sums.of(adds) + 1, blocks - 1, stamp);
      if (lane == 0) of[adds] = sum;
    } else if (thread == 0) {
      double verdict[1];
      collect<1, double>([&](int) { return &sums.verdict(stamp - 1)->one; }, 1, stamp - 1, verdict);
      stop = verdict[0] != 0;
    }
    __syncthreads();
    if (stop) break;
    const double omega = omega_of(of[t_s], of[t_t], of[s_s]), rho_then = rho_behind(of[shadow_s], of[shadow_t], omega);
    const double beta = over_sigma != 0 && omega != 0 ? rho_then / over_sigma / omega : 0;
    const double rr_mine = gpu::sum_lanes<gpu::warp>(own.full({V(alpha), V(omega), V(beta)}));
    if (lane == 0) room_rr[warp] = rr_mine;
    rho_now = rho_then;
    __syncthreads();
    if (warp == 1) {
      const double sum = sum_of_warps(room_rr);
      if (lane == 0) post(&sums.rr()[blockIdx.x].one, sum, stamp);
    }
  }
  own.store();
}

/// The kernel for a plan.
template <class V, class Until> auto kernel_for(const plan& p) {
  static_assert(std::size(register_sizes) == 2 && register_sizes[0] == 4 && register_sizes[1] == 8);
  return p.registers == 4   ? steps_kernel<V, register_share<V, 4>, Until>
         : p.registers == 8 ? steps_kernel<V, register_share<V, 8>, Until>
                            : steps_kernel<V, shared_share<V>, Until>;
}

} // namespace furrow::resident::stabilised
