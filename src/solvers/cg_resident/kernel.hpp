// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "sums.hpp"
#include "system.hpp"

#include "solvers/cg/judge.hpp"

namespace furrow::resident {

/// Where the words of sums lie: those of p'q and p'p for two steps by turns, since the judge may not have seen those of
/// the step before when others write the next ones, and his own word likewise.
struct sum_words {
  sum_word* all;
  static constexpr int count = 6 * most_blocks + 2;

  __device__ sum_word* pq(std::uint64_t stamp) const { return all + (stamp & 1) * most_blocks; }
  __device__ sum_word* rz() const { return all + 2 * most_blocks; }
  __device__ sum_word* rr() const { return all + 3 * most_blocks; }
  __device__ sum_word* verdict(std::uint64_t stamp) const { return all + 6 * most_blocks + (stamp & 1); }
  __device__ sum_word* pp(std::uint64_t stamp) const { return all + (4 + (stamp & 1)) * most_blocks; }
};

/// Block 0 keeps no rows: it judges a step while the others make the next one. General: with p'p, which the judge
/// wants where M is no diagonal.
template <bool General, class V, class Until>
__device__ void judge_steps(const system_on_chip<V>& g, const Until& until) {
  using namespace cg_scalars;
  if (threadIdx.x >= gpu::warp) return;
  const sum_words sums{g.sums};
  const bool writes = threadIdx.x == 0;
  const int blocks = static_cast<int>(gridDim.x);
  int stopped = 0;
  if (writes) {
    post(&sums.pq(g.stamp + 1)->one, 0, g.stamp + 1);
    post(&sums.verdict(g.stamp)->one, 0, g.stamp);
  }
  for (long long step = 0;; ++step) {
    const std::uint64_t stamp = g.stamp + 1 + static_cast<std::uint64_t>(step);
    const double pq_all = sum_of_all(sums.pq(stamp), blocks, stamp);
    const double pp_all = General ? sum_of_all(sums.pp(stamp) + 1, blocks - 1, stamp) : 0;
    const double rz_all = sum_of_all(sums.rz() + 1, blocks - 1, stamp);
    const double rr_all = sum_of_all(sums.rr() + 1, blocks - 1, stamp);
    if (writes) {
      // From here on the others may write r'z and r'r of the next step.
      if (step + 1 < g.steps) post(&sums.pq(stamp + 1)->one, 0, stamp + 1);
      if (General) g.slots[pp] = pp_all;
      g.slots[pq] = pq_all, g.slots[rz_next] = rz_all, g.slots[control::rr] = rr_all;
      stopped = until();
      post(&sums.verdict(stamp)->one, stopped, stamp);
    }
    if (__shfl_sync(~0u, stopped, 0) || step + 1 == g.steps) break;
  }
}

/// Steps of conjugate gradients, each with two ways through the second cache:
///
///   q = A p;  p'q                                                    sums of all blocks
///   alpha = r'z / p'q;  r -= alpha q;  z = M r;  r'r, r'z             sums of all blocks, z of neighbours
///   x += alpha p;  beta = r'z / (r'z)_old;  p = z + beta p, of the block's rows and of its halo
///
/// p of the halo has the bits that its owner has, for it is worked out from the same z and beta. The judge's word on a
/// step comes with the second sums of the next one, before x is touched: the step that is begun then leaves no trace
/// but in r, which nobody reads after an end. `until` is the judge of `iteration`. Needs in memory x, r, p and slot rz,
/// and leaves them so. `Share` says what M is, and makes z: it may take more ways for it. Words of a step are written
/// over when all blocks have posted what they post after reading them.
template <class Share, class Until>
__global__ void __launch_bounds__(threads, 1)
    steps_kernel(const __grid_constant__ typename Share::arguments_type g, Until until) {
  using namespace cg_scalars;
  using V = typename Share::value;
  extern __shared__ __align__(16) unsigned char room[];
  constexpr int warps = threads / gpu::warp;
  __shared__ double room_pq[warps], room_rz[warps], room_rr[warps], room_pp[Share::general ? warps : 1], all[2];
  __shared__ bool stop;
  if (blockIdx.x == 0) return judge_steps<Share::general>(g, until);
  const sum_words sums{g.sums};
  const int blocks = static_cast<int>(gridDim.x), thread = static_cast<int>(threadIdx.x);
  const int warp = thread / gpu::warp, lane = thread % gpu::warp;
  double rz_now = __ldcg(g.slots + rz);
  Share own(g, room);
  __syncthreads();
  for (long long step = 0; step < g.steps; ++step) {
    const std::uint64_t stamp = g.stamp + 1 + static_cast<std::uint64_t>(step);
    double pp_mine = 0;
    const double pq_mine = gpu::sum_lanes<gpu::warp>(own.multiply(pp_mine));
    if (lane == 0) room_pq[warp] = pq_mine;
    if constexpr (Share::general) {
      pp_mine = gpu::sum_lanes<gpu::warp>(pp_mine);
      if (lane == 0) room_pp[warp] = pp_mine;
    }
    __syncthreads();
    if (warp == 0) {
      const double sum = sum_of_warps(room_pq);
      if (lane == 0) post(&sums.pq(stamp)[blockIdx.x].one, sum, stamp);
    }
    own.advance();
    if (warp == 0) {
      const double sum = sum_of_all(sums.pq(stamp), blocks, stamp);
      if (lane == 0) all[0] = sum;
    }
    if constexpr (Share::general)
      if (warp == 1) {
        const double mine = sum_of_warps(room_pp);
        if (lane == 0) post(&sums.pp(stamp)[blockIdx.x].one, mine, stamp);
      }
    __syncthreads();
    double rr_mine = 0, rz_mine = 0;
    own.shrink(V(all[0] > 0 ? rz_now / all[0] : 0), stamp, rr_mine, rz_mine); // may meet, too
    rr_mine = gpu::sum_lanes<gpu::warp>(rr_mine), rz_mine = gpu::sum_lanes<gpu::warp>(rz_mine);
    if (lane == 0) room_rr[warp] = rr_mine, room_rz[warp] = rz_mine;
    __syncthreads();
    if (warp == 0) {
      const double mine = sum_of_warps(room_rz);
      if (lane == 0) post(&sums.rz()[blockIdx.x].one, mine, stamp);
      const double sum = sum_of_all(sums.rz() + 1, blocks - 1, stamp);
      if (lane == 0) all[1] = sum;
    } else if (warp == 1) {
      const double mine = sum_of_warps(room_rr);
      if (lane == 0) {
        post(&sums.rr()[blockIdx.x].one, mine, stamp);
        double verdict[1];
        collect<1, double>([&](int) { return &sums.verdict(stamp - 1)->one; }, 1, stamp - 1, verdict);
        stop = verdict[0] != 0;
      }
    } else {
      own.gather(stamp);
    }
    __syncthreads();
    if (stop) break;
    const V beta = V(rz_now > 0 ? all[1] / rz_now : 0);
    rz_now = all[1];
    own.turn(beta);
    __syncthreads();
  }
  own.store();
}

} // namespace furrow::resident
