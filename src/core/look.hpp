// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/entries_before.hpp"
#include "core/sample.hpp"

#include <furrow/coo.hpp>
#include <furrow/stats.hpp>
#include <furrow/value.hpp>

#include <span>
#include <string_view>
#include <vector>

/// What a format wants to know of a matrix beyond `stats`, it finds out by itself: an object `look` in
/// `namespace NAME_format`, in the look.cpp of its folder. Its numbers come with the statistics, and its `lay_out`
/// reads them; nobody else knows what they mean.
namespace furrow {

/// The triplets that a look sees: those of the whole matrix, or at least of the rows that it asked for.
template <class V> struct sight {
  shape2 shape;
  cview<std::int32_t> row, col; ///< row: empty where `row_ptr` is there
  cview<V> val;
  cview<std::int32_t> row_ptr{}; ///< of compressed rows that lie as somebody else has them

  index_t nnz() const { return val.size; }
};
template <class Triplets> auto sight_of(const Triplets& a) {
  return sight<std::remove_cvref_t<decltype(a.val[0])>>{a.shape, as_cview(a.row), as_cview(a.col), as_cview(a.val)};
}
template <class V> entry_rows rows_of_entries(const sight<V>& a) { return {a.row, a.row_ptr}; }
template <class V> sight<V> sight_of(const borrowed_rows<V>& a) { return {a.shape, {}, a.col, a.val, a.row_ptr}; }

struct format_look {
  std::string_view format;
  /// The rows that it looks at, of a matrix whose lengths are measured: a sample of a large one, for only they come
  /// from a GPU.
  std::vector<row_range> (*rows)(const stats& lengths);
  /// The same numbers for every number of threads, and of those rows alone.
  estimate_numbers (*f64)(const sight<double>& a, const stats& lengths);
  estimate_numbers (*f32)(const sight<float>& a, const stats& lengths);
  bool values = false; ///< it reads values
  bool again = false;  ///< it looks again where a matrix gets new values

  template <class V> estimate_numbers at(const sight<V>& a, const stats& lengths) const {
    return for_value<V>(f64, f32)(a, lengths);
  }
};

/// All of them, by the names of their formats; the table is generated.
std::span<const format_look* const> format_looks();

/// What the look of that format found; nullptr where nobody has looked.
inline const estimate_numbers* estimate_of(const stats& s, std::string_view format) {
  for (const format_estimate& e : s.estimates)
    if (e.format == format) return &e.number;
  return nullptr;
}

} // namespace furrow
