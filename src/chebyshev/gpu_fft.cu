// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"
#include "gpu_fft_kernels.hpp"
#include "gpu_norms.hpp"

#include "backends/gpu/replay.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace furrow::chebyshev {
namespace {

template <class V> class fft final : public engine_of<V> {
  using kind = gpu_transform::kind;

public:
  explicit fft(const product_task& task)
      : engine_of<V>(task), m_(gpu_transform_length(points_needed(task.shape))), half_(m_ / 2 + 1),
        norms_(task.shape, task.count), fixed_norms_(task.shape, 1), spectrum_(half_ * task.count),
        back_(kind::half_back, m_, task.count) {}

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    const index_t count = this->task.count;
    if (!pair_) {
      pair_.emplace(kind::complex, m_, count);
      values_.resize(m_ * count);
      share_memory();
    }
    pair_replay_.run(arguments(a, b, c), [&] { enqueue_pair(a, b, c); });
  }

  void fix(const V* a) override {
    fixed_.resize(half_);
    const fft_job<V> j = job_of({a}, {a}, {}, fixed_norms_.exponents(), nullptr);
    fixed_norms_.find({a}, this->task.shape.na, {}, 0, 1);
    each(half_, 1, j, [&](auto grid, const auto& part, auto stream) {
      half_kernel<<<grid, fft_threads, 0, stream>>>(part, true, fixed_.data());
    });
    gpu_transform once(kind::to_real, m_, 1);
    gpu_array<char> work(index_t(std::max<std::size_t>(once.work_bytes(), 64)));
    once.use(work.data());
    once.run(fixed_.data());
    gpu::wait(gpu::current_queue()); // its plan goes away here
  }

  void run_fixed(batch<const V> b, batch<V> c) override {
    check(!fixed_.empty(), fault::usage, "multiply_fixed has no factor yet: call fix before it");
    const index_t count = this->task.count;
    if (!forth_) {
      forth_.emplace(kind::to_real, m_, count);
      share_memory();
    }
    fixed_replay_.run(arguments(b, b, c), [&] { enqueue_fixed(b, c); });
  }

  index_t transform() const override { return m_; }
  double memory_bytes() const override {
    return double(values_.byte_count() + spectrum_.byte_count() + fixed_.byte_count() + work_.byte_count()) +
           norms_.bytes() + fixed_norms_.bytes();
  }

private:
  using argument_list = std::tuple<const V*, index_t, index_t, const V*, index_t, index_t, V*, index_t>;
  static argument_list arguments(const batch<const V>& a, const batch<const V>& b, const batch<V>& c) {
    return {a.data, a.count, a.stride, b.data, b.count, b.stride, c.data, c.stride};
  }

  void enqueue_pair(batch<const V> a, batch<const V> b, batch<V> c) {
    const index_t count = this->task.count;
    const fft_job<V> j = job_of(a, b, c, norms_.exponents(), nullptr);
    norms_.find(a, this->task.shape.na, b, this->task.shape.nb, count);
    each(half_, count, j, [&](auto grid, const auto& part, auto stream) {
      pair_kernel<<<grid, fft_threads, 0, stream>>>(part, values_.data());
    });
    pair_->run(values_.data());
    each(m_, count, j, [&](auto grid, const auto& part, auto stream) {
      pair_product_kernel<<<grid, fft_threads, 0, stream>>>(part, values_.data(), reals());
    });
    finish(j);
  }

  void enqueue_fixed(batch<const V> b, batch<V> c) {
    const index_t count = this->task.count;
    const fft_job<V> j = job_of(b, b, c, norms_.exponents(), fixed_norms_.exponents());
    norms_.find({}, 0, b, this->task.shape.nb, count);
    each(half_, count, j, [&](auto grid, const auto& part, auto stream) {
      half_kernel<<<grid, fft_threads, 0, stream>>>(part, false, spectrum_.data());
    });
    forth_->run(spectrum_.data());
    each(m_, count, j, [&](auto grid, const auto& part, auto stream) {
      fixed_product_kernel<<<grid, fft_threads, 0, stream>>>(part, reinterpret_cast<const double*>(fixed_.data()),
                                                             reals());
    });
    finish(j);
  }

  double* reals() { return reinterpret_cast<double*>(spectrum_.data()); }

  fft_job<V> job_of(batch<const V> a, batch<const V> b, batch<V> c, const int* exponents, const int* fixed) const {
    return {a, b, c, this->task.shape, this->task.series, m_, 0, exponents, fixed};
  }

  /// launch(grid, job, stream) for n threads a product; a grid has at most 65535 rows.
  template <class F> void each(index_t n, index_t count, fft_job<V> j, F launch) const {
    constexpr index_t most = 65535;
    for (j.first = 0; j.first < count; j.first += most) {
      const dim3 grid(unsigned((n + fft_threads - 1) / fft_threads), unsigned(std::min(count - j.first, most)));
      launch(grid, j, gpu::current_queue().stream);
      gpu::check_launch();
    }
  }

  void finish(const fft_job<V>& j) {
    back_.run(spectrum_.data());
    const product_shape& shape = this->task.shape;
    each(std::max(m_ / 4 + 1, shape.keep - shape.nonzero()), this->task.count, j,
         [&](auto grid, const auto& part, auto stream) {
           coefficients_kernel<<<grid, fft_threads, 0, stream>>>(part, spectrum_.data());
         });
  }

  /// One work area for all transforms: they follow each other.
  void share_memory() {
    std::size_t most = std::max<std::size_t>(back_.work_bytes(), 64);
    if (pair_) most = std::max(most, pair_->work_bytes());
    if (forth_) most = std::max(most, forth_->work_bytes());
    work_.resize(index_t(most));
    back_.use(work_.data());
    if (pair_) pair_->use(work_.data());
    if (forth_) forth_->use(work_.data());
    pair_replay_.forget(); // its graph has the old memory
    fixed_replay_.forget();
  }

  index_t m_, half_;
  norm_finder<V> norms_, fixed_norms_;
  gpu_array<double2> values_, spectrum_, fixed_;
  gpu_array<char> work_;
  gpu_transform back_;
  std::optional<gpu_transform> pair_, forth_;
  gpu::replay<argument_list> pair_replay_, fixed_replay_;
};

} // namespace

template <class V> engine_pointer<V> gpu_fft(const product_task& task) { return std::make_unique<fft<V>>(task); }
template engine_pointer<double> gpu_fft<double>(const product_task&);
template engine_pointer<float> gpu_fft<float>(const product_task&);

} // namespace furrow::chebyshev
