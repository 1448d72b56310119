// SPDX-License-Identifier: BSD-3-Clause
// ducc0's transforms of doubles, in namespace DUCC0_NAMESPACE, which whoever includes this names. No include guard: it
// is read once by each of the files that do.
#include "backends/cpu/parallel.hpp"
#include "ducc0_plan.hpp"

#define DUCC0_NO_LOWLEVEL_THREADING
#include <ducc0/infra/simd.h>

#if FURROW_DUCC0_VECTORS && !defined(DUCC0_NO_SIMD)
namespace DUCC0_NAMESPACE::detail_simd {
/// Vectors of two are for many transforms at once; without them a quarter less is compiled.
template <> constexpr inline bool simd_exists<double, 2> = false;
} // namespace DUCC0_NAMESPACE::detail_simd
#endif

#include <ducc0/fft/fft1d_impl.h>

namespace DUCC0_NAMESPACE::detail_threading {
namespace {

class part_of_work final : public Scheduler {
public:
  part_of_work(furrow::index_t begin, furrow::index_t end) : rest_(std::size_t(begin), std::size_t(end)) {}
  std::size_t num_threads() const override { return 1; }
  std::size_t thread_num() const override { return 0; }
  Range getNext() override { return std::exchange(rest_, Range()); }

private:
  Range rest_;
};

} // namespace

/// The one function of ducc0's threads that its transforms of one dimension call, here by ours.
void execStatic(std::size_t work, std::size_t threads, std::size_t, std::function<void(Scheduler&)> each) {
  const auto run = [&](furrow::index_t begin, furrow::index_t end) {
    part_of_work part(begin, end);
    each(part);
  };
  if (threads == 1) return run(0, furrow::index_t(work));
  furrow::cpu::for_each_range(furrow::index_t(work), 1, run);
}

} // namespace DUCC0_NAMESPACE::detail_threading

namespace furrow::chebyshev {
namespace {

class plan final : public ducc0_plan {
public:
  explicit plan(index_t n) : transform_(std::size_t(n), n <= one_thread) {}
  index_t room() const override { return 2 * index_t(transform_.bufsize()); }
  double bytes() const override { return double(transform_.footprint()); }

  double* run(double* x, double* room, bool minus, int threads) const override {
    using number = DUCC0_NAMESPACE::Cmplx<double>;
    static_assert(sizeof(number) == 2 * sizeof(double));
    return &transform_
                .exec(reinterpret_cast<number*>(x), reinterpret_cast<number*>(room), 1.0, minus, std::size_t(threads))
                ->r;
  }

private:
  /// Vectors along one transform, which then is one thread's work, or side by side: shorter parts that threads share.
  DUCC0_NAMESPACE::detail_fft::pocketfft_c<double> transform_;
};

} // namespace
} // namespace furrow::chebyshev
