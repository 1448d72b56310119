// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include "coarsen.hpp"
#include "formats/dia/cpu_rows.hpp"
#include "formats/padded.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/amg/dense.hpp"
#include "preconditioners/amg/diagonal.hpp"
#include "preconditioners/amg/levels.hpp"
#include "preconditioners/amg/rounding.hpp"
#include "survey.hpp"

#include <furrow/storage.hpp>

#include <fmt/format.h>

namespace furrow::amg {
namespace {

/// That a dense inverse is made of, unless A itself is small: it costs their third power.
constexpr index_t few_rows = 150;
constexpr double strong_direction = 0.3; ///< of the strongest one's entries

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

/// Memory of matrices that are no longer needed, which pages that the system has to clear would take longer.
using spare_memory = std::vector<host_array<double>>;

host_array<double> largest_of(spare_memory& spare) {
  if (spare.empty()) return {};
  const auto best = std::ranges::max_element(spare, {}, &host_array<double>::capacity);
  host_array<double> taken = std::move(*best);
  spare.erase(best);
  return taken;
}

/// Halves the strong directions; the transfers go to the level. The last matrix, the first where nothing is coupled.
template <class W> box_matrix coarsened(box_matrix a, const grid_survey& facts, level<W>& l, spare_memory& spare) {
  const box fine = a.points();
  double most = 0;
  for (int axis = 0; axis < 3; ++axis)
    if (fine.points[axis] > 1) most = std::max(most, facts.along[axis]);
  for (int axis = 0; axis < 3 && most > 0; ++axis) {
    if (fine.points[axis] == 1 || facts.along[axis] < strong_direction * most) continue;
    const auto p = weights_along(a, axis);
    box_matrix coarse = galerkin_product(a, p, largest_of(spare));
    spare.push_back(std::exchange(a, std::move(coarse)).take_memory());
    l.axes.push_back({p.fine, axis, rounded<W>(as_cview(p.lower), 1), rounded<W>(as_cview(p.upper), 1)});
  }
  return a;
}

template <class W> double bytes_of(const level<W>& l) {
  double bytes = byte_count(l.diagonals) + double(l.inverse.byte_count()) + 5.0 * sizeof(W) * double(l.size());
  for (const auto& t : l.axes) bytes += double(t.lower.byte_count() + t.upper.byte_count());
  for (std::size_t k = 0; k + 1 < l.axes.size(); ++k) bytes += sizeof(W) * double(l.axes[k].coarse().size());
  return bytes;
}

} // namespace

template <class W> hierarchy<W> grid_hierarchy(box_matrix a) {
  hierarchy<W> h;
  spare_memory spare;
  for (;;) {
    const double began = seconds_now();
    const grid_survey facts = survey(a);
    if (h.levels.empty()) h.scale = facts.diagonal.scale();
    const index_t rows = a.rows(), entries = a.entries();
    level<W> l;
    l.a.shape = {rows, rows};
    const bool small = rows <= (h.levels.empty() ? most_dense_rows : few_rows);
    if (small) {
      const auto inverse = dense_inverse(by_rows(a).view());
      if (!inverse) refuse_indefinite(h.levels.size());
      h.coarsest = rounded<W>(as_cview(*inverse), 1 / h.scale);
      h.reason = ends_dense(rows);
    } else {
      if (!facts.diagonal.are_positive()) refuse_indefinite(h.levels.size());
      const auto inverse = inverse_diagonal(a);
      l.inverse = rounded<W>(as_cview(inverse), 1 / h.scale);
      l.diagonals = rounded_diagonals<W>(a, h.scale);
      l.lambda = largest_eigenvalue(a, facts.gershgorin, inverse);
      a = coarsened(std::move(a), facts, l, spare);
      if (l.axes.empty()) h.reason = fmt::format("{} rows without couplings are smoothed only", rows);
      else l.r.shape = {a.rows(), rows}, l.p.shape = {rows, a.rows()};
    }
    h.facts.push_back(
        {rows, entries, bytes_of(l) + double(small ? h.coarsest.byte_count() : 0), seconds_now() - began});
    h.levels.push_back(std::move(l));
    if (h.levels.back().last()) return h;
  }
}

namespace {

/// A row of P: a point and its weight are handed from direction to direction, to two points of the next box each.
template <class W> struct prolonged {
  std::array<std::pair<index_t, W>, 8> to;
  int count = 1;

  prolonged(const std::vector<axis_transfer<W>>& axes, index_t point) {
    to[0] = {point, W(1)};
    for (const axis_transfer<W>& t : axes) {
      const auto from = to;
      const int before = std::exchange(count, 0);
      for (int k = 0; k < before; ++k)
        t.each_weight(from[k].first, [&](index_t next, W weight) {
          if (const W product = from[k].second * weight; product != 0) to[count++] = {next, product};
        });
    }
    std::sort(to.begin(), to.begin() + count);
  }
};

template <class W> void write_transfers(level<W>& l) {
  const index_t rows = l.p.shape.rows;
  row_matrix<W> p{l.p.shape, host_array<index_t>(rows + 1, 0), {}, {}};
  cpu::for_each_range(rows, 1 << 10, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) p.row_ptr[i + 1] = prolonged<W>(l.axes, i).count;
  });
  for (index_t i = 0; i < rows; ++i) p.row_ptr[i + 1] += p.row_ptr[i];
  p.col.resize(p.row_ptr[rows]), p.val.resize(p.row_ptr[rows]);
  cpu::for_each_range(rows, 1 << 10, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      const prolonged<W> row(l.axes, i);
      for (int k = 0; k < row.count; ++k) {
        p.col[p.row_ptr[i] + k] = static_cast<std::int32_t>(row.to[k].first);
        p.val[p.row_ptr[i] + k] = row.to[k].second;
      }
    }
  });
  auto r = transposed(p.view());
  l.p = {p.shape, std::move(p.row_ptr), std::move(p.col), std::move(p.val)};
  l.r = {r.shape, std::move(r.row_ptr), std::move(r.col), std::move(r.val)};
}

} // namespace

template <class W> void write_transfers(hierarchy<W>& h) {
  for (std::size_t k = 0; k < h.levels.size(); ++k)
    if (level<W>& l = h.levels[k]; !l.axes.empty()) {
      write_transfers(l);
      h.facts[k].bytes += byte_count(l.p) + byte_count(l.r);
    }
}

row_matrix<double> by_rows(const box_matrix& a) {
  const auto d = a.diagonals();
  row_matrix<double> to{d.shape, host_array<index_t>(a.rows() + 1, 0), {}, {}};
  const auto each = [&](auto f) {
    for (index_t i = 0; i < a.rows(); ++i)
      for (index_t k = 0; k < d.offset.size; ++k)
        if (const double v = d.val[k * d.stride + i]; v != 0) f(i, i + d.offset[k], v);
  };
  each([&](index_t i, index_t, double) { ++to.row_ptr[i + 1]; });
  for (index_t i = 0; i < a.rows(); ++i) to.row_ptr[i + 1] += to.row_ptr[i];
  to.col.resize(to.row_ptr[a.rows()]), to.val.resize(to.row_ptr[a.rows()]);
  index_t at = 0;
  each([&](index_t, index_t j, double v) { to.col[at] = static_cast<std::int32_t>(j), to.val[at++] = v; });
  return to;
}

template void write_transfers(hierarchy<double>&);
template void write_transfers(hierarchy<float>&);
template hierarchy<double> grid_hierarchy(box_matrix);
template hierarchy<float> grid_hierarchy(box_matrix);

} // namespace furrow::amg
