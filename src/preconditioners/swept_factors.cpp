// SPDX-License-Identifier: BSD-3-Clause
#include "swept_factors.hpp"

#include "backends/cpu/space.hpp"
#include "elimination.hpp"
#include "generate/randomness.hpp"
#include "moved_vector.hpp"
#include "stored_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace furrow {
namespace {

constexpr double farthest = 1e8; ///< from exact solves

template <class V, class Array, class Numbers, class Places> class swept_factors final : public any_preconditioner<V> {
public:
  swept_factors(std::unique_ptr<any_operator<V>> lower, std::unique_ptr<any_operator<V>> upper, index_t sweeps,
                const arrangement& moved, std::string about)
      : lower_(std::move(lower)), upper_(std::move(upper)), sweeps_(sweeps), row_(moved.row), place_(moved.place),
        row_scale_(by_place(moved)), col_scale_(moved.col_scale), about_(std::move(about)),
        given_(lower_->shape().rows), first_(given_.size()), second_(sweeps > 1 ? given_.size() : 0) {}

  void apply(cview<V> r, view<V> z) const override {
    const view<V> given = as_view(given_);
    move(r, row_, row_scale_, given);
    const bool even = sweeps_ % 2 == 0;
    const view<V> half = even ? as_view(second_) : as_view(first_), other = even ? as_view(first_) : as_view(second_);
    sweep(*lower_, as_cview(given_), other, half);
    const bool ends_elsewhere = !place_.empty() || !col_scale_.empty();
    const view<V> end = ends_elsewhere ? given : z;
    sweep(*upper_, half, other, end);
    if (ends_elsewhere) move(end, place_, col_scale_, z);
  }
  double stored_bytes() const override {
    return lower_->stored_bytes() + upper_->stored_bytes() +
           double(row_.byte_count() + place_.byte_count() + row_scale_.byte_count() + col_scale_.byte_count() +
                  given_.byte_count() + first_.byte_count() + second_.byte_count());
  }
  std::string describe() const override { return about_; }

private:
  /// The scale of the row that comes to each place.
  static host_array<double> by_place(const arrangement& moved) {
    if (moved.row.empty()) return host_array<double>(moved.row_scale);
    host_array<double> scale(moved.row_scale.size());
    for (index_t i = 0; i < scale.size(); ++i) scale[i] = moved.row_scale[moved.row[i]];
    return scale;
  }
  static void move(cview<V> x, const Places& from, const Numbers& scale, view<V> y) {
    const move_step<V> step{x, from.empty() ? nullptr : from.data(), scale.empty() ? nullptr : scale.data(), y};
    if constexpr (std::is_same_v<Array, gpu_array<V>>) move_on_gpu(step);
    else cpu::space<V>{}.sweep(y.size, step);
  }
  /// `end` <- b - N x, as often as there are sweeps, from x = b; by turns with `other`, the last in `end`.
  void sweep(const any_operator<V>& n, cview<V> b, view<V> other, view<V> end) const {
    cview<V> x = b;
    for (index_t left = sweeps_ - 1; left >= 0; --left) {
      const view<V> y = left % 2 == 0 ? end : other;
      n.apply_with(x, y, {b});
      x = y;
    }
  }

  std::unique_ptr<any_operator<V>> lower_, upper_;
  index_t sweeps_;
  Places row_, place_;
  Numbers row_scale_, col_scale_;
  std::string about_;
  mutable Array given_, first_, second_;
};

constexpr index_t rows_at_once = 4096;

/// y <- b - N x.
template <class V>
void sweep_once(row_view<V> n, const std::vector<double>& b, const std::vector<double>& x, std::vector<double>& y) {
  cpu::for_each_range(n.shape.rows, rows_at_once, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      double sum = b[std::size_t(i)];
      for (index_t e = n.begin(i); e < n.end(i); ++e) sum -= double(n.val[e]) * x[std::size_t(n.col[e])];
      y[std::size_t(i)] = sum;
    }
  });
}

template <class V> std::vector<double> swept(row_view<V> n, const std::vector<double>& b, index_t sweeps) {
  std::vector<double> x = b, y(b.size());
  for (index_t k = 0; k < sweeps; ++k) {
    sweep_once(n, b, x, y);
    std::swap(x, y);
  }
  return x;
}

template <class V> std::vector<double> solved(row_view<V> n, std::vector<double> x, triangle side) {
  for (index_t k = 0; k < n.shape.rows; ++k) {
    const index_t i = side == triangle::lower ? k : n.shape.rows - 1 - k;
    for (index_t e = n.begin(i); e < n.end(i); ++e) x[std::size_t(i)] -= double(n.val[e]) * x[std::size_t(n.col[e])];
  }
  return x;
}

} // namespace

template <class V> double distance_from_exact(row_view<V> lower, row_view<V> upper, index_t sweeps) {
  const auto n = static_cast<std::size_t>(lower.shape.rows);
  std::vector<double> row(n, 1.0), column(n, 0.0);
  const auto each = [&](auto f) {
    for (const row_view<V>& t : {lower, upper})
      for (index_t i = 0; i < t.shape.rows; ++i)
        for (index_t e = t.begin(i); e < t.end(i); ++e)
          f(row[std::size_t(i)], column[std::size_t(t.col[e])], std::abs(double(t.val[e])));
  };
  each([](double& size, double&, double v) { size = std::max(size, v); });
  for (std::size_t j = 0; j < n; ++j) column[j] = 1 / row[j];
  each([](double& size, double& most, double v) { most = std::max(most, v / size); });
  const randomness signs(1);
  for (std::size_t i = 0; i < n; ++i)
    if (signs.at(index_t(i)) & 1) row[i] = -row[i];
  const auto exact = solved(upper, solved(lower, row, triangle::lower), triangle::upper);
  const auto near = swept(upper, swept(lower, row, sweeps), sweeps);
  double off = 0, size = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double here = std::abs(near[j] - exact[j]) * column[j];
    if (!(here <= off)) off = here; // keeps a NaN
    if (std::isnan(off)) return off;
    size = std::max(size, std::abs(exact[j]) * column[j]);
  }
  return size > 0 ? off / size : off;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make_swept(unit_factors<V> f, index_t sweeps, std::string_view who,
                                                  device where) {
  check_fill((8 + sizeof(V)) * double(std::max(f.lower.nnz(), f.upper.nnz())), who); // as triplets, one by one
  const double off = distance_from_exact(f.lower.view(), f.upper.view(), sweeps);
  const auto count = fmt::format("{} sweep{}", sweeps, sweeps == 1 ? "" : "s");
  if (!(off <= farthest))
    throw refusal{status::breakdown,
                  fmt::format("{} on each factor of {} end {:.2g} times the exact solve away from it: the factors are "
                              "far from normal, leave sweeps out and they are solved with exactly",
                              count, who, off)};
  f.about =
      fmt::format("{} a factor, off the exact solves by {:.2g} of their size",
                  f.about.empty() ? fmt::format("{}: {}", who, count) : fmt::format("{}; {}", f.about, count), off);
  if (off >= 2) f.about += ": they move away, exact solves, without sweeps, are likely to serve better";
  else if (off >= 0.9) f.about += ": more of them, or exact solves, are likely to save iterations";
  auto lower = in_best_format(to_triplets(std::move(f.lower)), where);
  auto upper = in_best_format(to_triplets(std::move(f.upper)), where);
  if (where.is_gpu())
    return std::make_unique<swept_factors<V, gpu_array<V>, gpu_array<double>, gpu_array<std::int32_t>>>(
        std::move(lower), std::move(upper), sweeps, f.moved, std::move(f.about));
  return std::make_unique<swept_factors<V, host_array<V>, host_array<double>, host_array<std::int32_t>>>(
      std::move(lower), std::move(upper), sweeps, f.moved, std::move(f.about));
}

preconditioner_layout layout_of_swept(double n, precision p, double entries) {
  const double v = bytes_of(p);
  return {(4 + v) * entries + n * (2 * 8 + 2 * (4 + 8) + 3 * v), (8 + v) * entries / 2, false};
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template double distance_from_exact(row_view<V>, row_view<V>, index_t);                                              \
  template std::unique_ptr<any_preconditioner<V>> make_swept(unit_factors<V>, index_t, std::string_view, device)
FURROW_INSTANTIATE(double);
FURROW_INSTANTIATE(float);
#undef FURROW_INSTANTIATE

} // namespace furrow
