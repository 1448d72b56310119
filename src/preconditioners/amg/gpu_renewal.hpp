// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_setup.hpp"

#include <vector>

namespace furrow::amg {

#if FURROW_HAS_GPU
/// Makes the numbers of a hierarchy of `smoothed_aggregation_on_gpu` for other values of its matrix, on the GPU where
/// it lies. The first time everything is made anew, with what stays the same from then on (`device_plan`). Later ones
/// keep aggregates and all places: lambda, P, R, R A P, the smoother and the dense inverse are made by the sums of the
/// set-up in their order, so that a set-up that finds the same strong couplings, and no entry of P that is 0, gives the
/// same bits. Nothing is counted, sorted or searched for, and the host waits some 5 times a level. Everything is made
/// anew where couplings have changed so much that more than a tenth of the rows of a level would have other aggregates.
template <class W> class device_renewal {
public:
  /// failed: A has other places. Throws a `refusal` where A is proved to be indefinite; h is of no use then.
  template <class V> renewal_outcome renew(const rows_on_gpu<V>& a, hierarchy<W, gpu_array>& h);

private:
  template <class V> void make(const rows_on_gpu<V>& a, hierarchy<W, gpu_array>& h);
  device_view places(const hierarchy<W, gpu_array>& h, std::size_t number, cview<double> values) const;
  bool renew_level(std::size_t number, const device_view& m, const gpu_array<double>& diagonal,
                   gpu_array<double>& coarse, hierarchy<W, gpu_array>& h);

  std::vector<device_plan> plans_; ///< of each level
};
#endif

} // namespace furrow::amg
