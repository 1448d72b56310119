// SPDX-License-Identifier: BSD-3-Clause
// What ranks get in a build without a GPU part.
#if !FURROW_HAS_GPU
#include "identity.hpp"
#include "rank_device.hpp"

namespace furrow {

std::unique_ptr<rank_device> rank_device::open(communicator& c) {
  select_device(c.where()); // says why there is no GPU
  return nullptr;
}
gpu_identity identity_of_gpu(int) { return {}; }
std::unique_ptr<rank_device> rank_device::open_on_one(communicator& c) { return open(c); }

} // namespace furrow
#endif
