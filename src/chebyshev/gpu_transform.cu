// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_fft.hpp"

namespace furrow::chebyshev {

gpu_transform::gpu_transform(kind what, index_t points, index_t count) : by_(cufft::needed()), what_(what) {
  long long n = points, half = points / 2 + 1, real = 2 * half;
  cufft::check(by_.create(&plan_), "make a plan");
  cufft::check(by_.set_auto_allocation(plan_, 0), "leave its memory to us");
  cufft::status made = 0;
  switch (what) {
  case kind::complex:
    made = by_.make_plan_many_64(plan_, 1, &n, nullptr, 1, n, nullptr, 1, n, cufft::complex_to_complex, count, &work_);
    break;
  case kind::to_real:
    made = by_.make_plan_many_64(plan_, 1, &n, &half, 1, half, &real, 1, real, cufft::complex_to_real, count, &work_);
    break;
  case kind::half_back:
    n = points / 2;
    made = by_.make_plan_many_64(plan_, 1, &n, &n, 1, half, &n, 1, half, cufft::complex_to_complex, count, &work_);
    break;
  }
  if (made != 0) by_.destroy(plan_);
  cufft::check(made, "plan a transform of this length");
}

gpu_transform::~gpu_transform() { by_.destroy(plan_); }

void gpu_transform::use(void* work) { cufft::check(by_.set_work_area(plan_, work), "take its memory"); }

void gpu_transform::run(double2* data) const {
  cufft::check(by_.set_stream(plan_, gpu::current_queue().stream), "use our stream");
  switch (what_) {
  case kind::complex:
    return cufft::check(by_.exec_z2z(plan_, data, data, cufft::plus), "transform");
  case kind::to_real:
    return cufft::check(by_.exec_z2d(plan_, data, &data->x), "transform");
  case kind::half_back:
    return cufft::check(by_.exec_z2z(plan_, data, data, cufft::minus), "transform");
  }
}

} // namespace furrow::chebyshev
