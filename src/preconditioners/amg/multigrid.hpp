// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "admission.hpp"
#include "cycle.hpp"
#include "preconditioners/new_values.hpp"
#include "renewal.hpp"

#include <cmath>
#include <optional>

namespace furrow::amg {

/// M: one cycle in the precision W. r is multiplied by a power of two on the way in and z by its inverse on the way
/// out, so that W's range is where the numbers are.
template <class V, class W> class multigrid final : public any_preconditioner<V>, public takes_new_values<V> {
public:
  /// renews: for other values, null: the hierarchy is then made from the beginning. inner: levels of a K-cycle, see
  /// `multigrid_cycle`.
  multigrid(hierarchy<W> h, int degree, spoken words, std::unique_ptr<renewal<W>> renews, std::size_t inner = 0)
      : h_(std::move(h)), degree_(degree), inner_(inner), words_(std::move(words)), renews_(std::move(renews)) {
    begin();
  }

  void apply(cview<V> r, view<V> z) const override {
    const double scale = scale_of(r);
    const view<W> b = cycle_->b();
    cpu::for_each_range(r.size, 1 << 14, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) b[i] = static_cast<W>(double(r[i]) * scale);
    });
    cycle_->run();
    const cview<W> x = cycle_->x();
    const double back = h_.scale / scale; // both powers of two
    cpu::for_each_range(z.size, 1 << 14, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) z[i] = static_cast<V>(double(x[i]) * back);
    });
  }
  bool update(const coo<V>& a, solver_needs needed) override {
    if (!renews_ || a.shape.rows != h_.levels[0].size() || !has_symmetric_levels(a, needed)) return false;
    if (fits_single(a, needed) != (sizeof(W) == 4)) return false;
    // What is kept, and the matrices of the levels in double: twice each.
    if (40 * double(a.nnz()) + 2 * stored_bytes() > double(available_host_memory())) return false;
    const rows_of_triplets<V> own(a);
    host_array<double> wide;
    const auto outcome = renews_->renew(in_double(a, own.view().row_ptr, wide), h_);
    if (outcome == renewal<W>::outcome::remade) begin();
    return outcome != renewal<W>::outcome::failed;
  }
  double stored_bytes() const override {
    double bytes = 0;
    for (const multigrid_level& f : h_.facts) bytes += f.bytes;
    return bytes;
  }
  std::string describe() const override { return about_; }
  std::vector<multigrid_level> levels() const override { return h_.facts; }

private:
  void begin() {
    about_ = sentence(h_.facts, h_.reason, words_, degree_, 8 * sizeof(W));
    cycle_.emplace(h_, degree_, inner_);
  }
  static double scale_of(cview<V> r) {
    const index_t parts = std::clamp<index_t>(r.size / (1 << 14), 1, cpu::thread_count());
    std::vector<double> most(static_cast<std::size_t>(parts), 0.0);
    cpu::for_each_task(parts, [&](index_t k) {
      double largest = 0;
      for (index_t i = cpu::part_begin(r.size, parts, k); i < cpu::part_begin(r.size, parts, k + 1); ++i)
        largest = std::max(largest, std::abs(double(r[i])));
      most[k] = largest;
    });
    const double largest = *std::ranges::max_element(most);
    if (!(largest > 0) || !std::isfinite(largest)) return 1; // zeros stay zeros; NaN and infinity go through
    return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -500, 500));
  }

  hierarchy<W> h_;
  int degree_;
  std::size_t inner_;
  spoken words_;
  std::unique_ptr<renewal<W>> renews_;
  std::string about_;
  mutable std::optional<multigrid_cycle<W>> cycle_;
};

} // namespace furrow::amg
