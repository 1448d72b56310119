// SPDX-License-Identifier: BSD-3-Clause
// What ranks get in a build without a GPU part.
#if !FURROW_HAS_GPU
#include "identity.hpp"
#include "rank_device.hpp"
#include "rows_apart.hpp"

namespace furrow {

std::unique_ptr<rank_device> rank_device::open(communicator& c) {
  select_device(c.where()); // says why there is no GPU
  return nullptr;
}
gpu_identity identity_of_gpu(int) { return {}; }
std::unique_ptr<rank_device> rank_device::open_on_one(communicator& c) { return open(c); }

template <class V> rows_apart<V> take_apart_on_gpu(const rows_on_gpu<V>&, index_t, index_t, index_t) {
  throw error(fault::device, "this build has no GPU part: it was compiled without nvcc");
}
template rows_apart<double> take_apart_on_gpu(const rows_on_gpu<double>&, index_t, index_t, index_t);
template rows_apart<float> take_apart_on_gpu(const rows_on_gpu<float>&, index_t, index_t, index_t);

} // namespace furrow
#endif
