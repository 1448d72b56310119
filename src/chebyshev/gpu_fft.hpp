// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/gpu/queue.hpp"

#include <cufft.h>

namespace furrow::chebyshev {

/// Throws `fault::device` (`fault::memory` where there is not enough of it) unless `code` is success.
void check(cufftResult code, const char* what);

/// A cuFFT plan for `count` transforms of `points` numbers, on the queue, with memory that belongs to the caller.
class gpu_transform {
public:
  enum class kind { complex, to_real, from_real };
  gpu_transform(kind what, index_t points, index_t count);
  gpu_transform(const gpu_transform&) = delete;
  ~gpu_transform();
  std::size_t work_bytes() const { return work_; }
  void use(void* work);
  /// In place; the half spectra of real transforms are points / 2 + 1 complex numbers apart.
  void run(cufftDoubleComplex* data) const;

private:
  kind what_;
  cufftHandle plan_ = 0;
  std::size_t work_ = 0;
};

} // namespace furrow::chebyshev
