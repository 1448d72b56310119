// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include "box_matrix.hpp"
#include "coarsen.hpp"
#include "formats/dia/cpu_rows.hpp"
#include "preconditioners/amg/diagonal.hpp"
#include "preconditioners/amg/rounding.hpp"
#include "preconditioners/stop.hpp"

#include "levels.hpp"

#include <furrow/storage.hpp>

namespace furrow::amg {
namespace {

/// Diagonals times a power of two; those with the same offset, which have no place in common, as one.
template <class W> dia<W, host_array> rounded_diagonals(const box_matrix& a, double scale) {
  const auto from = a.diagonals();
  std::vector<std::int32_t> distinct;
  for (const std::int32_t offset : from.offset)
    if (distinct.empty() || distinct.back() != offset) distinct.push_back(offset);
  const auto count = static_cast<index_t>(distinct.size());
  dia<W, host_array> to{from.shape, from.stride, host_array<std::int32_t>(count), host_array<W>(count * from.stride)};
  std::ranges::copy(distinct, to.offset.begin());
  cpu::for_each_range(a.rows(), 1 << 12, [&](index_t first, index_t last) {
    const index_t end = last == a.rows() ? from.stride : last;
    for (index_t k = 0, d = -1; k < from.offset.size; ++k) {
      const bool again = k > 0 && from.offset[k] == from.offset[k - 1];
      W* const out = to.val.data() + (d += !again) * to.stride;
      const double* const in = from.val.data + k * from.stride;
      for (index_t i = first; i < last; ++i) out[i] = (again ? out[i] : W(0)) + rounded<W>(in[i], scale);
      std::fill(out + last, out + end, W(0));
    }
  });
  return to;
}

host_array<double> inverse_diagonal(const box_matrix& a) {
  host_array<double> inverse(a.rows());
  cpu::for_each_range(a.rows(), 1 << 14, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) inverse[i] = 1 / a.at(place::centre)[i];
  });
  return inverse;
}

double largest_eigenvalue(const box_matrix& a, double gershgorin, const host_array<double>& inverse) {
  return amg::largest_eigenvalue(gershgorin, inverse, 1,
                                 [d = a.diagonals()](index_t first, index_t last, cview<double> x, double* out) {
                                   diagonal_rows::sums(d, first, last, x, out);
                                 });
}

class host_grid_kit {
public:
  explicit host_grid_kit(box_matrix a) : a_(std::move(a)) {}

  const box_layout& layout() const { return a_; }
  grid_survey survey() const { return amg::survey(a_); }
  template <class W> std::optional<host_array<W>> dense_inverse(double scale) const {
    const auto inverse = amg::dense_inverse(by_rows(a_.diagonals()).view());
    return inverse ? std::optional(rounded<W>(as_cview(*inverse), 1 / scale)) : std::nullopt;
  }
  template <class W> void keep(level<W>& l, double scale) {
    stops_set_up::at_row(0);
    inverse_ = inverse_diagonal(a_);
    l.inverse = rounded<W>(as_cview(inverse_), 1 / scale);
    l.diagonals = rounded_diagonals<W>(a_, scale);
  }
  double bound(double gershgorin) const {
    stops_set_up::at_row(0);
    return largest_eigenvalue(a_, gershgorin, inverse_);
  }
  template <class W> axis_transfer<W> halve(int axis) {
    stops_set_up::at_row(0);
    const auto p = weights_along(a_, axis);
    box_matrix coarse = galerkin_product(a_, p, largest_spare());
    spare_.push_back(std::exchange(a_, std::move(coarse)).take_memory());
    return {p.fine, axis, rounded<W>(as_cview(p.lower), 1), rounded<W>(as_cview(p.upper), 1)};
  }

private:
  host_array<double> largest_spare() {
    if (spare_.empty()) return {};
    const auto best = std::ranges::max_element(spare_, {}, &host_array<double>::capacity);
    host_array<double> taken = std::move(*best);
    spare_.erase(best);
    return taken;
  }

  box_matrix a_;
  host_array<double> inverse_;
  /// Memory of matrices that are no longer needed, which pages that the system has to clear would take longer.
  std::vector<host_array<double>> spare_;
};

} // namespace

template <class W> hierarchy<W> grid_hierarchy(box_matrix a) {
  host_grid_kit kit(std::move(a));
  return build_grid<W, host_array>(kit);
}

row_matrix<double> by_rows(const dia<double, cview>& d) {
  const index_t rows = d.shape.rows;
  row_matrix<double> to{d.shape, host_array<index_t>(rows + 1, 0), {}, {}};
  const auto each = [&](auto f) {
    for (index_t i = 0; i < rows; ++i)
      for (index_t k = 0; k < d.offset.size; ++k)
        if (const double v = d.val[k * d.stride + i]; v != 0) f(i, i + d.offset[k], v);
  };
  each([&](index_t i, index_t, double) { ++to.row_ptr[i + 1]; });
  for (index_t i = 0; i < rows; ++i) to.row_ptr[i + 1] += to.row_ptr[i];
  to.col.resize(to.row_ptr[rows]), to.val.resize(to.row_ptr[rows]);
  index_t at = 0;
  each([&](index_t, index_t j, double v) { to.col[at] = static_cast<std::int32_t>(j), to.val[at++] = v; });
  return to;
}

template hierarchy<double> grid_hierarchy(box_matrix);
template hierarchy<float> grid_hierarchy(box_matrix);

} // namespace furrow::amg
