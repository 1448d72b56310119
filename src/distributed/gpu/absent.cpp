// SPDX-License-Identifier: BSD-3-Clause
// What ranks get in a build without a GPU part.
#if !FURROW_HAS_GPU
#include "identity.hpp"
#include "rank_device.hpp"
#include "rows_apart.hpp"

#include "distributed/amg/amg_on_gpus.hpp"

namespace furrow {

std::unique_ptr<rank_device> rank_device::open(communicator& c) {
  select_device(c.where()); // says why there is no GPU
  return nullptr;
}
gpu_identity identity_of_gpu(int) { return {}; }

namespace {

[[noreturn]] void refuse_gpus() {
  throw error(fault::device, "this build has no GPU part: it was compiled without nvcc");
}

} // namespace

template <class V> rows_apart<V> take_apart_on_gpu(const rows_on_gpu<V>&, index_t, index_t, index_t) { refuse_gpus(); }
template rows_apart<double> take_apart_on_gpu(const rows_on_gpu<double>&, index_t, index_t, index_t);
template rows_apart<float> take_apart_on_gpu(const rows_on_gpu<float>&, index_t, index_t, index_t);

template <class V>
std::unique_ptr<any_preconditioner<V>> amg_on_gpus(communicator&, rank_device&, rows_of_gpu<V>, int, index_t) {
  refuse_gpus();
}
template std::unique_ptr<any_preconditioner<double>> amg_on_gpus(communicator&, rank_device&, rows_of_gpu<double>, int,
                                                                 index_t);
template std::unique_ptr<any_preconditioner<float>> amg_on_gpus(communicator&, rank_device&, rows_of_gpu<float>, int,
                                                                index_t);

} // namespace furrow
#endif
