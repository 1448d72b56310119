// SPDX-License-Identifier: BSD-3-Clause
#include "row_error.hpp"

#include "backends/cpu/parallel.hpp"

#include <cmath>
#include <limits>

namespace furrow {
namespace {

/// row(i, first, last) for every row, with its range of entries. Every row belongs to one task: the pieces of the
/// entries are moved to the next row's begin, rows without entries go to the piece that follows them.
template <class V, class F> void for_each_row(const coo<V>& a, F&& row) {
  const index_t nnz = a.nnz(), parts = std::clamp<index_t>(nnz / 16384, 1, 4 * cpu::thread_count());
  const auto begin_of = [&](index_t k) {
    index_t at = cpu::part_begin(nnz, parts, k);
    while (at > 0 && at < nnz && a.row[at] == a.row[at - 1]) ++at;
    return at;
  };
  cpu::for_each_task(parts, [&](index_t k) {
    index_t at = begin_of(k);
    const index_t end = k + 1 == parts ? nnz : begin_of(k + 1);
    if (at == end && nnz > 0) return; // a row longer than a piece
    index_t i = at == 0 ? 0 : index_t(a.row[at - 1]) + 1;
    const index_t rows = end == nnz ? a.shape.rows : index_t(a.row[end - 1]) + 1;
    for (; i < rows; ++i) {
      const index_t first = at;
      while (at < end && a.row[at] == i) ++at;
      row(i, first, at);
    }
  });
}

} // namespace

template <class V> row_reference reference_product(const coo<V>& a, cview<V> x, V alpha) {
  row_reference r{host_array<long double>(a.shape.rows), host_array<double>(a.shape.rows)};
  for_each_row(a, [&](index_t i, index_t first, index_t last) {
    long double sum = 0, sizes = 0;
    for (index_t k = first; k < last; ++k) {
      const long double product = static_cast<long double>(a.val[k]) * static_cast<long double>(x[a.col[k]]);
      sum += product;
      sizes += std::abs(product);
    }
    constexpr double u = std::numeric_limits<V>::epsilon() / 2;
    const long double largest = std::abs(static_cast<long double>(alpha)) * sizes;
    r.value[i] = static_cast<long double>(alpha) * sum;
    const auto roundings = double(last - first + 2);
    // Below the normal numbers each may miss by the smallest one, and by alpha times that.
    const double lost = largest > 0 && largest < roundings * std::numeric_limits<V>::min()
                            ? roundings * std::max(1.0, std::abs(double(alpha))) * std::numeric_limits<V>::denorm_min()
                            : 0;
    r.bound[i] = largest > static_cast<long double>(std::numeric_limits<V>::max())
                     ? std::numeric_limits<double>::infinity()
                     : roundings * u * std::abs(double(alpha)) * static_cast<double>(sizes) + lost;
  });
  return r;
}

template <class V> double largest_row_error(const row_reference& reference, cview<V> y) {
  double worst = 0;
  for (index_t i = 0; i < y.size; ++i) {
    if (std::isinf(reference.bound[i])) continue;
    const auto off = static_cast<double>(std::abs(static_cast<long double>(y[i]) - reference.value[i]));
    const double error = off == 0 ? 0 : off / reference.bound[i];
    if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return worst;
}

template <class V> host_array<V> row_sums(const coo<V>& a) {
  host_array<V> sums(a.shape.rows);
  for_each_row(a, [&](index_t i, index_t first, index_t last) {
    double sum = 0;
    for (index_t k = first; k < last; ++k) sum += double(a.val[k]);
    sums[i] = static_cast<V>(sum);
  });
  return sums;
}

template row_reference reference_product(const coo<double>&, cview<double>, double);
template row_reference reference_product(const coo<float>&, cview<float>, float);
template double largest_row_error(const row_reference&, cview<double>);
template double largest_row_error(const row_reference&, cview<float>);
template host_array<double> row_sums(const coo<double>&);
template host_array<float> row_sums(const coo<float>&);

} // namespace furrow
