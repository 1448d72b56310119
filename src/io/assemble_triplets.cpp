// SPDX-License-Identifier: BSD-3-Clause
// Triplets of a caller become entries as a file has them, and are sorted like those.
#include "assemble_parts.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "core/host_room.hpp"
#include "core/triplets.hpp"

#include <furrow/assemble.hpp>
#include <furrow/value.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow {
namespace {

constexpr index_t block_size = index_t(1) << 15;

bool is_narrow(const index_view& v) { return std::holds_alternative<cview<std::int32_t>>(v); }
index_t size_of(const index_view& v) {
  return std::visit([](auto list) { return list.size; }, v);
}
bool points_nowhere(const index_view& v) {
  return std::visit([](auto list) { return !list.data && !list.empty(); }, v);
}

/// to[k] = convert(from[k]), in parallel.
template <class To, class From, class Convert> cview<To> copy(cview<From> from, host_array<To>& to, Convert convert) {
  to = host_array<To>(from.size);
  cpu::for_each_range(from.size, block_size, [&](index_t first, index_t last) {
    std::transform(from.data + first, from.data + last, to.data() + first, convert);
  });
  return to;
}
template <class T> cview<T> copy(cview<T> from, host_array<T>& to) {
  return copy(from, to, [](T value) { return value; });
}

/// The indices where they are; those of another type as a copy, in which one that 32 bits do not hold is -1: outside
/// of every matrix too.
cview<std::int32_t> narrowed(const index_view& given, host_array<std::int32_t>& kept) {
  return std::visit(
      [&]<class I>(cview<I> from) -> cview<std::int32_t> {
        if constexpr (std::is_same_v<I, std::int32_t>) return from;
        else
          return copy(from, kept,
                      [](I i) { return std::in_range<std::int32_t>(i) ? static_cast<std::int32_t>(i) : -1; });
      },
      given);
}

cview<double> widened(cview<double> given, host_array<double>&) { return given; }
cview<double> widened(cview<float> given, host_array<double>& kept) {
  return copy(given, kept, [](float v) { return double(v); });
}

/// Entries [first, first + count): whether they are inside the matrix, and ascend from the one before them on.
io::block look_at(const io::listed_entries& e, index_t first, index_t count) {
  bool good = true, by_rows = true, by_columns = true;
  for (index_t k = first; k < first + count; ++k) good &= is_inside(e.row[k], e.col[k], e.head.shape);
  for (index_t k = std::max<index_t>(first, 1); k < first + count; ++k) {
    const bool down = e.row[k - 1] < e.row[k], right = e.col[k - 1] < e.col[k];
    by_rows &= down | ((e.row[k - 1] == e.row[k]) & right);
    by_columns &= right | ((e.col[k - 1] == e.col[k]) & down);
  }
  return {.first = first, .count = count, .good = good, .by_columns = by_columns, .by_rows = by_rows};
}

std::vector<io::block> look_at(const io::listed_entries& e) {
  std::vector<io::block> blocks(static_cast<std::size_t>((e.head.stored + block_size - 1) / block_size));
  cpu::for_each_task(static_cast<index_t>(blocks.size()), [&](index_t b) {
    const index_t first = b * block_size;
    blocks[static_cast<std::size_t>(b)] = look_at(e, first, std::min(block_size, e.head.stored - first));
  });
  return blocks;
}

void check_arguments(shape2 shape, const index_view& rows, const index_view& cols, index_t values, const void* data) {
  const auto what = wrong_sizes(shape, size_of(rows), size_of(cols), values);
  if (!what.empty()) throw error(fault::input, what);
  check(!points_nowhere(rows) && !points_nowhere(cols) && (data || values == 0), fault::input,
        "the matrix has {} triplets, but one of their arrays points nowhere", values);
}

/// Throws where sorting would take more memory than there is; `copied`: bytes a triplet.
void check_memory(const matrix_header& head, double copied) {
  const auto n = static_cast<double>(head.stored);
  // The estimate counts the values as read, 8 bytes each: here they are the caller's.
  const double bytes = io::estimate_assembly(head) + (copied - 8) * n;
  if (host_room free; !free.takes(bytes))
    throw_sentence(fault::memory, "assembling {} triplets takes {:.1f} GB of memory, of which {:.1f} GB can be had",
                   head.stored, bytes / 1e9, free.bytes() / 1e9);
}

void check_inside(const io::listed_entries& e, const index_view& rows, const index_view& cols) {
  const auto bad = std::ranges::find(e.blocks, false, &io::block::good);
  if (bad == e.blocks.end()) return;
  index_t k = bad->first;
  while (is_inside(e.row[k], e.col[k], e.head.shape)) ++k;
  throw error(fault::input,
              std::visit([&](auto r, auto c) { return outside(k, r[k], c[k], e.head.shape); }, rows, cols));
}

/// Entries that are in order already.
coo<double> taken_over(const io::listed_entries& e, io::entries& owned) {
  if (owned.row.empty()) copy(e.row, owned.row);
  if (owned.col.empty()) copy(e.col, owned.col);
  if (owned.val.empty()) copy(e.val, owned.val);
  return {e.head.shape, std::move(owned.row), std::move(owned.col), std::move(owned.val)};
}

/// The sums in float; one that float does not hold is refused.
coo<float> rounded(coo<double>&& a) {
  host_array<float> val;
  copy(as_cview(a.val), val, [](double v) { return static_cast<float>(v); });
  std::atomic<index_t> first = a.nnz();
  cpu::for_each_range(a.nnz(), block_size, [&](index_t begin, index_t end) {
    const auto is_lost = [&](index_t k) { return std::isfinite(a.val[k]) && !std::isfinite(val[k]); };
    for (index_t k = begin; k < end; ++k)
      if (is_lost(k)) return lower(first, k);
  });
  if (const index_t k = first; k < a.nnz())
    throw error(fault::input, fmt::format("the triplets at ({}, {}) add up to {:.3g}, beyond the range of float: give "
                                          "values in double",
                                          a.row[k], a.col[k], a.val[k]));
  return {a.shape, std::move(a.row), std::move(a.col), std::move(val)};
}

template <class V> coo<V> assemble_any(shape2 shape, const index_view& rows, const index_view& cols, cview<V> values) {
  check_arguments(shape, rows, cols, values.size, values.data);
  io::listed_entries e;
  io::entries owned;
  e.head.shape = shape;
  e.head.stored = values.size;
  check_memory(e.head, (is_narrow(rows) ? 0 : 4) + (is_narrow(cols) ? 0 : 4) + (is_wide<V> ? 0 : 8));
  e.row = narrowed(rows, owned.row);
  e.col = narrowed(cols, owned.col);
  e.val = widened(values, owned.val);
  const auto blocks = look_at(e);
  e.blocks = blocks;
  check_inside(e, rows, cols);
  const bool sorted = std::ranges::all_of(blocks, &io::block::by_rows);
  coo<double> a = sorted ? taken_over(e, owned) : io::assemble(e, owned);
  if constexpr (is_wide<V>) return a;
  else return rounded(std::move(a));
}

} // namespace

coo<double> assemble(shape2 shape, index_view rows, index_view cols, cview<double> values) {
  return assemble_any(shape, rows, cols, values);
}
coo<float> assemble(shape2 shape, index_view rows, index_view cols, cview<float> values) {
  return assemble_any(shape, rows, cols, values);
}

} // namespace furrow
