// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/parameters.hpp"
#include "core/row_offsets.hpp"
#include "formats/put_columns.hpp"

#include <algorithm>
#include <bit>

namespace furrow {

slicing sell_format::read_parameters(std::string_view parameters) {
  const entry_parameters given(usage, parameters);
  const slicing how{given.whole(0, usual_height, 4, row_group::most), given.whole(1, 0, 1, 1 << 20)};
  const auto power = [](index_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); };
  if (!power(how.height)) given.refuse("HEIGHT must be a power of two");
  if (given.has(1) && how.window != 1 && (!power(how.window) || how.window < how.height))
    given.refuse("WINDOW must be 1, or a power of two not below HEIGHT");
  return how;
}

namespace {

template <class V, class Triplets> sell<V, host_array> slices_of(Triplets a, slicing how) {
  const index_t rows = a.shape.rows, height = how.height;
  const auto row_ptr = row_offsets(a);
  drop_rows(a);
  const auto length = lengths_of(row_ptr);
  if (how.window == 0) how = best_slicing(length, height, sizeof(V) + sizeof(std::int32_t));
  sell<V, host_array> made{a.shape, height, {}, sorted_rows(length, how), {}, {}};
  made.slice_ptr = offsets_of_slices(length, made.row, height);
  const index_t slices = made.slice_ptr.size() - 1, places = made.slice_ptr[slices];
  const auto fill = [&](auto& to, const auto& from, auto padding) {
    cpu::for_each_range(slices, 64, [&](index_t first, index_t last) {
      row_group of;
      of.rows = height;
      for (index_t s = first; s < last; ++s) {
        for (index_t i = 0; i < height; ++i) {
          const index_t p = s * height + i, row = p < rows ? row_at(made, p) : rows;
          of.begin[i] = row_ptr[row];
          of.length[i] = row < rows ? length[row] : 0;
        }
        const index_t place = made.slice_ptr[s], width = (made.slice_ptr[s + 1] - place) / height;
        put_columns(of, static_cast<std::int32_t>(width), height, from.begin(), padding, to.data() + place);
      }
    });
  };
  made.col = host_array<std::int32_t>(places); // one after the other, so that only one of them is there twice
  fill(made.col, a.col, std::int32_t(-1));
  a.col = {};
  made.val = host_array<V>(places);
  fill(made.val, a.val, V(0));
  return made;
}

} // namespace

template <class V> sell<V, host_array> to_sell(coo<V> a, slicing how) { return slices_of<V>(std::move(a), how); }
template <class V> sell<V, host_array> to_sell(measured_coo<V> a, slicing how) {
  return slices_of<V>(std::move(a), how);
}
template <class V> sell<V, host_array> to_sell(borrowed_rows<V> a, slicing how) {
  return slices_of<V>(std::move(a), how);
}

template <class V> sell<V, host_array> to_sell(coo<V> a, std::string_view parameters) {
  return to_sell(std::move(a), sell_format::read_parameters(parameters));
}
template <class V> sell<V, host_array> to_sell(measured_coo<V> a, std::string_view parameters) {
  return to_sell(std::move(a), sell_format::read_parameters(parameters));
}
template <class V> sell<V, host_array> to_sell(borrowed_rows<V> a, std::string_view parameters) {
  return to_sell(std::move(a), sell_format::read_parameters(parameters));
}

template <class V> host_array<std::int32_t> lengths_at_positions(const sell<V, host_array>& a) {
  host_array<std::int32_t> length(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t p = first; p < last; ++p) {
      const index_t end = a.slice_ptr[p / a.height + 1];
      index_t at = a.slice_ptr[p / a.height] + p % a.height;
      std::int32_t n = 0;
      for (; at < end && a.col[at] >= 0; at += a.height) ++n;
      length[p] = n;
    }
  });
  return length;
}

template <class V> coo<V> to_coo(const sell<V, host_array>& a) {
  const index_t rows = a.shape.rows;
  const auto length = lengths_at_positions(a);
  host_array<index_t> row_ptr(rows + 1, 0);
  for (index_t p = 0; p < rows; ++p) row_ptr[row_at(a, p) + 1] = length[p];
  for (index_t r = 0; r < rows; ++r) row_ptr[r + 1] += row_ptr[r];
  const index_t nnz = row_ptr[rows];
  coo<V> result{a.shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  cpu::for_each_range(rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t p = first; p < last; ++p) {
      const index_t row = row_at(a, p), begin = a.slice_ptr[p / a.height] + p % a.height;
      for (index_t k = 0; k < length[p]; ++k) {
        result.row[row_ptr[row] + k] = static_cast<std::int32_t>(row);
        result.col[row_ptr[row] + k] = a.col[begin + k * a.height];
        result.val[row_ptr[row] + k] = a.val[begin + k * a.height];
      }
    }
  });
  return result;
}

#define FURROW_SELL(V)                                                                                                 \
  template sell<V, host_array> to_sell(coo<V>, slicing);                                                               \
  template sell<V, host_array> to_sell(coo<V>, std::string_view);                                                      \
  template sell<V, host_array> to_sell(measured_coo<V>, slicing);                                                      \
  template sell<V, host_array> to_sell(measured_coo<V>, std::string_view);                                             \
  template sell<V, host_array> to_sell(borrowed_rows<V>, slicing);                                                     \
  template sell<V, host_array> to_sell(borrowed_rows<V>, std::string_view);                                            \
  template coo<V> to_coo(const sell<V, host_array>&);                                                                  \
  template host_array<std::int32_t> lengths_at_positions(const sell<V, host_array>&);
FURROW_SELL(double)
FURROW_SELL(float)
#undef FURROW_SELL

} // namespace furrow
