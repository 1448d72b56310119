// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_fft.hpp"

#include <string>

namespace furrow::chebyshev {

void check(cufftResult code, const char* what) {
  if (code == CUFFT_SUCCESS) return;
  const fault kind = code == CUFFT_ALLOC_FAILED ? fault::memory : fault::device;
  throw error(kind, std::string("cuFFT failed to ") + what + " (code " + std::to_string(int(code)) + ")");
}

gpu_transform::gpu_transform(kind what, index_t points, index_t count) : what_(what) {
  long long n = points, half = points / 2 + 1, real = 2 * half;
  check(cufftCreate(&plan_), "make a plan");
  check(cufftSetAutoAllocation(plan_, 0), "leave its memory to us");
  cufftResult made = CUFFT_SUCCESS;
  switch (what) {
  case kind::complex:
    made = cufftMakePlanMany64(plan_, 1, &n, nullptr, 1, n, nullptr, 1, n, CUFFT_Z2Z, count, &work_);
    break;
  case kind::to_real:
    made = cufftMakePlanMany64(plan_, 1, &n, &half, 1, half, &real, 1, real, CUFFT_Z2D, count, &work_);
    break;
  case kind::half_back:
    n = points / 2;
    made = cufftMakePlanMany64(plan_, 1, &n, &n, 1, half, &n, 1, half, CUFFT_Z2Z, count, &work_);
    break;
  }
  if (made != CUFFT_SUCCESS) cufftDestroy(plan_);
  check(made, "plan a transform of this length");
}

gpu_transform::~gpu_transform() { cufftDestroy(plan_); }

void gpu_transform::use(void* work) { check(cufftSetWorkArea(plan_, work), "take its memory"); }

void gpu_transform::run(cufftDoubleComplex* data) const {
  check(cufftSetStream(plan_, gpu::current_queue().stream), "use our stream");
  switch (what_) {
  case kind::complex:
    return check(cufftExecZ2Z(plan_, data, data, CUFFT_INVERSE), "transform");
  case kind::to_real:
    return check(cufftExecZ2D(plan_, data, reinterpret_cast<cufftDoubleReal*>(data)), "transform");
  case kind::half_back:
    return check(cufftExecZ2Z(plan_, data, data, CUFFT_FORWARD), "transform");
  }
}

} // namespace furrow::chebyshev
