// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/operator.hpp"

#include "backends/cpu/parallel.hpp"
#include "formats/csr/cpu_rows.hpp"
#include "preconditioners/amg/chebyshev.hpp"
#include "preconditioners/amg/hierarchy.hpp"

#include <memory>

namespace furrow::amg {

/// A level that lies among the ranks, in the hands of one: A times a power of two, and the vectors of a cycle. All
/// ranks call its functions together.
template <class W> class level_on_ranks {
public:
  static constexpr index_t grain = 1 << 13;

  /// p, r: as of `coarsened`, whose plan `way` is; without rows on the last level. inverse: of A's diagonal as it is
  /// here.
  level_on_ranks(communicator& c, rows_of_rank<W> parts, rows<W> p, rows<W> r, halo_plan way, host_array<W> inverse,
                 double lambda)
      : parts_(std::move(parts)), way_(std::move(way)), n_(parts_.own.shape.rows),
        a_(c, parts_, stored(std::move(parts_.own))), p_(std::move(p)), r_(std::move(r)), residuals_(c, parts_.plan),
        corrections_(c, way_), inverse_(std::move(inverse)), lambda_(lambda), b_(n_), x_(n_),
        wide_left_(n_ + parts_.plan.columns.size()), z_(n_), wide_coarse_(p_.shape.cols) {}
  level_on_ranks(const level_on_ranks&) = delete;

  view<W> b() { return as_view(b_); }
  cview<W> x() const { return as_cview(x_); }
  double stored_bytes() const {
    return a_.stored_bytes() + byte_count(p_) + byte_count(r_) + double(sizeof(W)) * 5 * double(n_);
  }

  /// x = p(A) b.
  void smooth_from_zero(int degree) {
    const W c = static_cast<W>(chebyshev::first / lambda_), beta = static_cast<W>(chebyshev::beta(degree, 1));
    each([&](index_t i) {
      wide_left_[i] = b_[i];
      z_[i] = c * inverse_[i] * b_[i];
      x_[i] = beta * z_[i];
    });
    go_on(degree);
  }
  /// x += p(A) (b - A x).
  void smooth(int degree) {
    residual();
    const W c = static_cast<W>(chebyshev::first / lambda_), beta = static_cast<W>(chebyshev::beta(degree, 1));
    each([&](index_t i) {
      z_[i] = c * inverse_[i] * wide_left_[i];
      x_[i] += beta * z_[i];
    });
    go_on(degree);
  }
  /// to = P' (b - A x).
  void restrict_to(view<W> to) {
    residual();
    residuals_.start(left());
    std::ranges::copy(residuals_.finish(), wide_left_.data() + n_);
    rows_of(r_, as_cview(wide_left_), [&](index_t i, W sum) { to[i] = sum; });
  }
  /// x += P c.
  void add_prolonged(cview<W> c) {
    corrections_.start(c);
    std::ranges::copy(c, wide_coarse_.begin());
    std::ranges::copy(corrections_.finish(), wide_coarse_.data() + c.size);
    rows_of(p_, as_cview(wide_coarse_), [&](index_t i, W sum) { x_[i] += sum; });
  }

private:
  view<W> left() { return {wide_left_.data(), n_}; }
  static std::unique_ptr<any_operator<W>> stored(coo<W> own) {
    if (own.shape.rows == 0) return nullptr;
    const choice how = choose(measure(own), precision_of<W>, device{}, {});
    return make(how, device{}, std::move(own));
  }
  void residual() {
    std::ranges::copy(b_, wide_left_.begin());
    a_.apply(W(-1), as_cview(x_), W(1), left());
  }
  void go_on(int degree) {
    for (int i = 2; i <= degree; ++i) {
      a_.apply(W(-1), as_cview(z_), W(1), left());
      const W keep = static_cast<W>(chebyshev::keep(i)), gain = static_cast<W>(chebyshev::gain(i) / lambda_);
      const W beta = static_cast<W>(chebyshev::beta(degree, i));
      each([&](index_t k) {
        z_[k] = keep * z_[k] + gain * inverse_[k] * wide_left_[k];
        x_[k] += beta * z_[k];
      });
    }
  }
  template <class F> void each(F f) const {
    cpu::for_each_range(n_, grain, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  }
  template <class F> static void rows_of(const rows<W>& a, cview<W> x, F f) {
    const csr<W, index_t, cview> seen = view_of(a);
    cpu::for_each_range(a.shape.rows, grain / 4, [&](index_t first, index_t last) {
      constexpr index_t chunk = 240;
      W sum[chunk];
      for (index_t i = first; i < last; i += chunk) {
        const index_t count = std::min(chunk, last - i);
        csr_rows::direct::sums(seen, i, i + count, x, sum);
        for (index_t k = 0; k < count; ++k) f(i + k, sum[k]);
      }
    });
  }

  rows_of_rank<W> parts_;
  halo_plan way_; ///< of corrections
  index_t n_;
  rank_operator<W> a_;
  rows<W> p_, r_;
  halo<W> residuals_, corrections_;
  host_array<W> inverse_;
  double lambda_;
  host_array<W> b_, x_;
  host_array<W> wide_left_; ///< b - A x, and behind it that of others
  host_array<W> z_, wide_coarse_;
};

} // namespace furrow::amg
