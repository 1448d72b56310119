// SPDX-License-Identifier: BSD-3-Clause
#include "value_plan.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/value.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace furrow {
namespace {

constexpr index_t values_at_once = index_t(1) << 15;

/// Whether f(k) for all k below n.
template <class F> bool all_of(index_t n, F f) {
  std::atomic<bool> all = true;
  cpu::for_each_range(n, values_at_once, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      if (!f(k)) return all.store(false, std::memory_order_relaxed);
  });
  return all;
}

/// Places that hold a value.
index_t count_places(const host_array<std::uint32_t>& from) {
  std::atomic<index_t> count = 0;
  cpu::for_each_range(from.size(), values_at_once, [&](index_t first, index_t last) {
    index_t mine = 0;
    for (index_t i = first; i < last; ++i) mine += from[i] != 0;
    count += mine;
  });
  return count;
}

/// Numbers from 1 on that V holds exactly make a digit.
template <class V> constexpr index_t base = index_t(1) << (is_wide<V> ? 40 : 20);

/// Whether rows are compressed rows whose columns ascend, whatever their arrays hold by now.
template <class V, class I> bool is_ordered(const csr_arrays<V, I>& a) {
  const auto begin = [&](index_t row) { return index_t(a.row_ptr[row]); };
  const index_t rows = a.shape.rows;
  if (begin(0) != 0 || !all_of(rows, [&](index_t r) { return begin(r) <= begin(r + 1); }) || begin(rows) > a.col.size)
    return false;
  return all_of(rows, [&](index_t row) {
    index_t before = -1;
    for (index_t k = begin(row); k < begin(row + 1); ++k) {
      if (a.col[k] <= before || a.col[k] >= a.shape.cols) return false;
      before = a.col[k];
    }
    return true;
  });
}

/// The matrix whose values are a digit of the number of each, and 1.
template <class V, class I> coo<V> digits_of(const csr_arrays<V, I>& rows, int digit) {
  const index_t nnz = rows.row_ptr[rows.shape.rows];
  coo<V> a{rows.shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  cpu::for_each_range(rows.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t row = first; row < last; ++row)
      for (index_t k = rows.row_ptr[row]; k < rows.row_ptr[row + 1]; ++k) {
        a.row[k] = static_cast<std::int32_t>(row);
        a.col[k] = static_cast<std::int32_t>(rows.col[k]);
        a.val[k] = static_cast<V>((digit == 0 ? k % base<V> : k / base<V>)+1);
      }
  });
  return a;
}

} // namespace

template <class V>
template <class I>
value_plan<V>::value_plan(const csr_arrays<V, I>& rows, const choice& stored_as, device where,
                          std::unique_ptr<any_operator<V>>& laid_out)
    : ordered_(is_ordered(rows)) {
  if (!ordered_) return;
  const index_t nnz = rows.row_ptr[rows.shape.rows];
  const bool countable = nnz < std::numeric_limits<std::uint32_t>::max();
  if (!countable || where.is_gpu()) return;
  const auto make = stored_as.format->backend(where).template make<V>();
  const int digits = nnz > base<V> ? 2 : 1;
  std::unique_ptr<any_operator<V>> op;
  for (int digit = 0; digit < digits; ++digit) {
    op = make(digits_of(rows, digit), stored_as.parameters, stored_as.kernel);
    auto* const stored = dynamic_cast<stored_values<V>*>(op.get());
    const auto arrays = stored ? stored->values() : std::vector<view<V>>{};
    if (arrays.empty()) return;
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      const view<V> places = arrays[a];
      if (digit == 0) from_.emplace_back(places.size);
      cpu::for_each_range(places.size, values_at_once, [&](index_t first, index_t last) {
        for (index_t i = first; i < last; ++i) {
          const auto number = static_cast<std::uint32_t>(places[i]);
          if (digit == 0) from_[a][i] = number;
          else if (number > 0) from_[a][i] += (number - 1) * static_cast<std::uint32_t>(base<V>);
        }
      });
    }
  }
  index_t found = 0;
  for (const auto& places : from_) found += count_places(places);
  known_ = found == nnz; // each value lies in one place
  if (!known_) return;
  laid_out = std::move(op);
  const auto& first = from_.front();
  in_order_ = from_.size() == 1 && first.size() == nnz && all_of(nnz, [&](index_t i) { return first[i] == i + 1; });
  if (in_order_) from_.front() = {};
}

template <class V> void value_plan<V>::put(cview<V> values, stored_values<V>& into) const {
  const auto arrays = into.values();
  for (std::size_t a = 0; a < arrays.size(); ++a)
    check(arrays[a].size == (in_order_ ? values.size : from_[a].size()), fault::usage, changed_pattern);
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const view<V> places = arrays[a];
    const auto& from = from_[a];
    cpu::for_each_range(places.size, values_at_once, [&](index_t first, index_t last) {
      if (in_order_) std::copy(values.data + first, values.data + last, places.data + first);
      else
        for (index_t i = first; i < last; ++i) places[i] = from[i] ? values[index_t(from[i]) - 1] : V(0);
    });
  }
}

template class value_plan<double>;
template class value_plan<float>;
template value_plan<double>::value_plan(const csr_arrays<double, std::int32_t>&, const choice&, device,
                                        std::unique_ptr<any_operator<double>>&);
template value_plan<double>::value_plan(const csr_arrays<double, std::int64_t>&, const choice&, device,
                                        std::unique_ptr<any_operator<double>>&);
template value_plan<float>::value_plan(const csr_arrays<float, std::int32_t>&, const choice&, device,
                                       std::unique_ptr<any_operator<float>>&);
template value_plan<float>::value_plan(const csr_arrays<float, std::int64_t>&, const choice&, device,
                                       std::unique_ptr<any_operator<float>>&);

} // namespace furrow
