// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_named_addends.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

namespace furrow::gpu {
namespace products {

using rows_view = csr<double, index_t, cview>;

// Transposition.

struct name_rows {
  rows_view a;
  std::int32_t* row_of;
  FURROW_HD void operator()(index_t i) const {
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) row_of[k] = static_cast<std::int32_t>(i);
  }
};

/// Offsets of the rows whose numbers `row` lists in order: by the entry that begins one, and those that are empty
/// before it; the last call, for k = nnz, ends them all.
struct find_rows {
  cview<std::int32_t> row;
  index_t rows;
  index_t* row_ptr;
  FURROW_HD void operator()(index_t k) const {
    const index_t before = k == 0 ? -1 : row[k - 1], own = k == row.size ? rows : row[k];
    for (index_t i = before + 1; i <= own; ++i) row_ptr[i] = k;
  }
};

struct move_entries {
  const std::int32_t *from, *row_of;
  const double* val;
  std::int32_t* col;
  double* to;
  FURROW_HD void operator()(index_t k) const {
    col[k] = row_of[from[k]];
    to[k] = val[from[k]];
  }
};

/// The rows of B that a row of A needs, one after the other, a lane an entry.
struct products_of_row {
  static constexpr index_t usual_length = 128;
  rows_view a, b;

  FURROW_HD index_t addends(index_t i) const {
    index_t count = 0;
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) count += b.row_ptr[a.col[k] + 1] - b.row_ptr[a.col[k]];
    return count;
  }
  FURROW_HD index_t most_entries(index_t i) const {
    const index_t count = addends(i);
    return count < b.shape.cols ? count : b.shape.cols;
  }
  /// The lanes fetch where the next L rows of B lie together, and the entries of one come while those of the one before
  /// are added.
  template <bool Values, int L, class F> __device__ void each(const lane_group<L>& lanes, index_t i, F f) const {
    each_named<Values>(
        lanes, i, [&](int l, int) { return b.col[l]; }, f);
  }
  /// f(name(l, number), factor, value): l of the entry in B, the addend's number in row i.
  template <bool Values, int L, class Name, class F>
  __device__ void each_named(const lane_group<L>& lanes, index_t i, Name name, F f) const {
    struct addend {
      decltype(name(0, 0)) name;
      double value;
    };
    const auto fetch = [&](int l, int number) { return addend{name(l, number), Values ? b.val[l] : 0}; };
    const auto from = [&](auto v, int lane) { return L == 1 ? v : __shfl_sync(lanes.lanes, v, lane, L); };
    const index_t last = a.row_ptr[i + 1];
    int number = 0; // of the first addend of a row of B
    for (index_t first = a.row_ptr[i]; first < last; first += L) {
      int own_begin = 0, own_end = 0;
      double own_factor = 0;
      if (first + lanes.rank < last) {
        const index_t j = a.col[first + lanes.rank];
        own_begin = static_cast<int>(b.row_ptr[j]);
        own_end = static_cast<int>(b.row_ptr[j + 1]);
        if constexpr (Values) own_factor = a.val[first + lanes.rank];
      }
      const int steps = static_cast<int>(last - first < L ? last - first : L);
      int begin = from(own_begin, 0), end = from(own_end, 0);
      addend next{};
      if (begin + lanes.rank < end) next = fetch(begin + lanes.rank, number + lanes.rank);
      for (int s = 0; s < steps; ++s) {
        const double factor = Values ? from(own_factor, s) : 0;
        const int now_begin = begin, now_end = end, now_number = number;
        const addend now = next;
        number += end - begin;
        if (s + 1 < steps) {
          begin = from(own_begin, s + 1);
          end = from(own_end, s + 1);
          if (begin + lanes.rank < end) next = fetch(begin + lanes.rank, number + lanes.rank);
        }
        if (now_begin + lanes.rank < now_end) f(now.name, factor, now.value);
        for (int k = lanes.rank + L; k < now_end - now_begin; k += L) {
          const addend more = fetch(now_begin + k, now_number + k);
          f(more.name, factor, more.value);
        }
        if constexpr (Values) lanes.sync(); // the next row may add to the same places by other lanes
      }
    }
  }
};

/// call(lanes) with as many as suit the rows of B.
template <class Call> auto with_lanes(const rows_view& b, Call call) {
  const double mean = double(b.val.size) / double(std::max<index_t>(b.shape.rows, 1));
  if (mean <= 1.5) return call(std::integral_constant<int, 1>());
  if (mean <= 6) return call(std::integral_constant<int, 4>());
  if (mean <= 12) return call(std::integral_constant<int, 8>());
  return call(std::integral_constant<int, warp>());
}

template <bool Sorted>
device_rows<double> multiplied(const device_rows<double>& a, const device_rows<double>& b, rows_by_table* kept) {
  const products_of_row source{view_of(a), view_of(b)};
  return with_lanes(source.b, [&](auto lanes) {
    return add_up<decltype(lanes)::value, Sorted>({a.shape.rows, b.shape.cols}, source, kept);
  });
}

} // namespace products

device_rows<double> transposed(const device_rows<double>& a, gpu_array<std::int32_t>* kept) {
  using namespace products;
  const index_t nnz = a.val.size(), cols = a.shape.cols;
  device_rows<double> t{
      {cols, a.shape.rows}, gpu_array<index_t>(cols + 1), gpu_array<std::int32_t>(nnz), gpu_array<double>(nnz)};
  gpu_array<std::int32_t> from(nnz), row_of(nnz), row(a.col);
  for_each(nnz, count_up<std::int32_t>{from.data()});
  for_each(a.shape.rows, name_rows{view_of(a), row_of.data()});
  sort_pairs(row, from, std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cols)))));
  for_each(nnz + 1, find_rows{as_cview(row), cols, t.row_ptr.data()});
  for_each(nnz, move_entries{from.data(), row_of.data(), a.val.data(), t.col.data(), t.val.data()});
  if (kept) *kept = std::move(from);
  return t;
}

device_rows<double> multiply(const device_rows<double>& a, const device_rows<double>& b, row_order order,
                             rows_by_table* kept) {
  furrow::check(a.val.size() <= most_entries && b.val.size() <= most_entries, fault::memory,
                "a product of matrices on a GPU takes fewer than 2^31 entries");
  return order == row_order::sorted ? products::multiplied<true>(a, b, kept) : products::multiplied<false>(a, b, kept);
}

void multiply_again(const csr<double, index_t, cview>& a, const csr<double, index_t, cview>& b, rows_by_table& kept,
                    const csr<double, index_t, cview>& c, view<double> val) {
  const products::products_of_row source{a, b};
  products::with_lanes(b, [&](auto lanes) { add_again_named<decltype(lanes)::value>(kept, source, c, val.data); });
}

} // namespace furrow::gpu
