// SPDX-License-Identifier: BSD-3-Clause
#include "fingerprint.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "core/counted.hpp"

#include <atomic>
#include <bit>

namespace furrow {
namespace {

/// The last mixing of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators,
/// 2014), a bijection.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/// A zero counts as no entry: some formats drop those that a file stores.
std::uint64_t of_entry(index_t row, index_t col, double value) {
  const std::uint64_t place = static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(col);
  return mixed(mixed(place + 0x9E3779B97F4A7C15u) + std::bit_cast<std::uint64_t>(value));
}

/// The sum of f(k) over [0, n), by all threads.
template <class F> std::uint64_t sum_of(index_t n, F f) {
  std::atomic<std::uint64_t> total{0};
  cpu::for_each_range(n, 1 << 16, [&](index_t first, index_t last) {
    std::uint64_t sum = 0;
    for (index_t k = first; k < last; ++k) sum += f(k);
    total += sum;
  });
  return total;
}

} // namespace

template <class V> system_fingerprint fingerprint_of_rows(index_t first, const coo<V>& a, cview<V> b) {
  check(b.size == a.shape.rows, fault::usage, "b has {} for a matrix of {}: give one for each",
        counted(b.size, "element"), counted(a.shape.rows, "row"));
  check(b.data || b.empty(), fault::usage, "b points nowhere, but has {} elements", b.size);
  const auto entries = sum_of(a.nnz(), [&](index_t k) { return std::uint64_t(a.val[k] != V(0)); });
  const auto values = sum_of(a.nnz(), [&](index_t k) {
    return a.val[k] == V(0) ? 0 : of_entry(first + a.row[k], a.col[k], double(a.val[k]));
  });
  return {a.shape.rows, a.shape.cols, index_t(entries), values,
          sum_of(b.size, [&](index_t i) { return of_entry(first + i, 0, double(b[i])); })};
}

template <class V> system_fingerprint fingerprint(const coo<V>& a, cview<V> b) { return fingerprint_of_rows(0, a, b); }

template system_fingerprint fingerprint_of_rows(index_t, const coo<double>&, cview<double>);
template system_fingerprint fingerprint_of_rows(index_t, const coo<float>&, cview<float>);
template system_fingerprint fingerprint(const coo<double>&, cview<double>);
template system_fingerprint fingerprint(const coo<float>&, cview<float>);

} // namespace furrow
