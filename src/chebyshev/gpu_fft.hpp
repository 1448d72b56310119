// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cufft.hpp"

#include "backends/gpu/queue.hpp"

namespace furrow::chebyshev {

/// A cuFFT plan for `count` transforms, on the queue, with memory that belongs to the caller: of `points` complex
/// numbers, of half of them to as many real ones, or, with the other sign, of the points / 2 complex numbers that as
/// many pairs of real ones are. Throws `fault::device` where there is no cuFFT.
class gpu_transform {
public:
  enum class kind { complex, to_real, half_back };
  gpu_transform(kind what, index_t points, index_t count);
  gpu_transform(const gpu_transform&) = delete;
  ~gpu_transform();
  std::size_t work_bytes() const { return work_; }
  void use(void* work);
  /// In place; all but the first kind are points / 2 + 1 complex numbers apart.
  void run(double2* data) const;

private:
  const cufft::library& by_;
  kind what_;
  cufft::plan plan_ = 0;
  std::size_t work_ = 0;
};

} // namespace furrow::chebyshev
