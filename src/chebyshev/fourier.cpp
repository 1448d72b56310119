// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>

namespace furrow::chebyshev {
namespace {

ducc0_pointer widest_plan(index_t n) {
#if FURROW_DUCC0_VECTORS
  if (cpu::machine_isa() == cpu::isa::avx512) return ducc0_avx512_plan(n);
  if (cpu::machine_isa() == cpu::isa::avx2) return ducc0_avx2_plan(n);
#endif
  return ducc0_baseline_plan(n);
}

} // namespace

fourier_transform::fourier_transform(index_t n) : n_(n), plan_(widest_plan(n)) {}

double* fourier_transform::run(double* x, double* room, bool minus) const {
  return plan_->run(x, room, minus, n_ > alone ? cpu::thread_count() : 1);
}

void fourier(std::vector<complex_number>& x) {
  if (x.size() < 2) return;
  const fourier_transform transform(static_cast<index_t>(x.size()));
  static_assert(sizeof(complex_number) == 2 * sizeof(double));
  double* const numbers = &x.data()->re;
  host_array<double> room(transform.room());
  const double* const y = transform.minus(numbers, room.data());
  if (y != numbers) std::copy_n(y, 2 * x.size(), numbers);
}

} // namespace furrow::chebyshev
