// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plan.hpp"
#include "sums.hpp"
#include "system.hpp"

#include "backends/gpu/occupancy.hpp"
#include "backends/gpu/space.hpp"
#include "backends/gpu/together.hpp"
#include "matrix/rows.hpp"
#include "solvers/entry.hpp"

#include <utility>
#include <vector>

/// What a solver on the chip keeps from solve to solve.
namespace furrow::resident {

template <class T> gpu_array<T> sent(cview<T> v) {
  gpu_array<T> a(v.size);
  copy_bytes(gpu_memory{}, a.data(), host_memory{}, v.data, a.byte_count());
  return a;
}
template <class T> gpu_array<T> sent(const std::vector<T>& v) {
  return sent(cview<T>{v.data(), static_cast<index_t>(v.size())});
}
template <class T> gpu_array<T> zeros(index_t n) {
  gpu_array<T> a(n);
  gpu::fill_bytes(a, 0);
  return a;
}

/// A as the blocks keep it, the words of sums by which they talk, `sum_count` of them, and `vectors` words of each row.
template <class V> class kept_system : public solver_keeps {
public:
  double stored_bytes() const override {
    return double(row_ptr_.byte_count() + col_.byte_count() + val_.byte_count() + first_.byte_count() +
                  halo_first_.byte_count() + halo_.byte_count() + sums_.byte_count() + words_.byte_count());
  }
  void describe(solve_report&) const override {}

protected:
  kept_system(const row_view<V>& a, plan p, const chip& c, const names& who, index_t sum_count, index_t vectors)
      : plan_(fitting(std::move(p), a, c, who)), who_(who), row_ptr_(sent(a.row_ptr)), col_(sent(plan_.col)),
        first_(sent(plan_.first)), halo_first_(sent(plan_.halo_first)), halo_(sent(plan_.halo)), val_(sent(a.val)),
        sums_(zeros<sum_word>(sum_count)), words_(zeros<word<V>>(vectors * a.shape.rows)) {
    plan_.col = {}, plan_.col_of_m = {}, plan_.halo = {};
  }

  /// Throws where the device does not run all blocks of that kernel at once.
  template <class Kernel> Kernel running(Kernel kernel, const chip& c) const {
    gpu::allow_shared_memory(kernel, static_cast<int>(c.block_bytes));
    if (plan_.fits() && gpu::resident_blocks(kernel, threads, static_cast<int>(plan_.bytes)) < 1)
      does_not_run(plan_.bytes, who_);
    return kernel;
  }
  /// What a run of at most so many steps is given, behind those before.
  system_on_chip<V> next_run(double* slots, cview<V> d, index_t steps) {
    const system_on_chip<V> g{
        .row_ptr = row_ptr_.data(),
        .col = col_.data(),
        .first = first_.data(),
        .halo_first = halo_first_.data(),
        .halo = halo_.data(),
        .val = val_.data(),
        .d = d,
        .slots = slots,
        .sums = sums_.data(),
        .stamp = stamp_,
        .steps = steps,
        .inside = plan_.inside,
        .lanes = plan_.lanes,
    };
    stamp_ += static_cast<std::uint64_t>(steps) + 1;
    return g;
  }
  template <class Kernel, class... A> void launch(Kernel kernel, const A&... arguments) const {
    gpu::launch_together(kernel, static_cast<unsigned>(plan_.blocks()), static_cast<unsigned>(threads),
                         static_cast<std::size_t>(plan_.bytes), gpu::current_queue(), arguments...);
  }
  /// Those of vector k.
  word<V>* words(index_t k) { return words_.data() + k * rows(); }
  index_t rows() const { return row_ptr_.size() - 1; }
  const plan& where() const { return plan_; }

  /// What a step moves through the second cache: `vectors` of words to and from it, `sums` to it and from it to all
  /// blocks, and A `products` times where it lies outside the chip.
  double bytes_of_step(int vectors, int sums, int products) const {
    const double blocks = plan_.blocks();
    return vectors * double(rows() + halo_.size()) * sizeof(word<V>) + sums * blocks * blocks * sizeof(sum_word) +
           (plan_.inside ? 0 : products * double(val_.byte_count() + col_.byte_count()));
  }

private:
  static plan fitting(plan p, const row_view<V>& a, const chip& c, const names& who) {
    if (!p.fits() && a.shape.rows > 0) does_not_fit(a.shape.rows, a.nnz(), c, who);
    return p;
  }

  plan plan_; ///< without what lies on the GPU
  names who_;
  gpu_array<index_t> row_ptr_;
  gpu_array<std::uint16_t> col_;
  gpu_array<std::int32_t> first_, halo_first_, halo_;
  gpu_array<V> val_;
  gpu_array<sum_word> sums_;
  gpu_array<word<V>> words_;
  std::uint64_t stamp_ = 0; ///< of the last step that may have been made
};

} // namespace furrow::resident
