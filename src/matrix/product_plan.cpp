// SPDX-License-Identifier: BSD-3-Clause
#include "product_plan.hpp"

#include "row_accumulator.hpp"

#include "core/blocks.hpp"

#include <atomic>
#include <type_traits>

namespace furrow {
namespace {

/// Work of a piece: enough to pay for handing it out.
constexpr double entries_of_plan_piece = 1 << 14;

template <class T> host_array<T> copied(cview<T> v) {
  host_array<T> own(v.size);
  cpu::for_each_range(v.size, 1 << 15, [&](index_t first, index_t last) {
    std::copy(v.begin() + first, v.begin() + last, own.data() + first);
  });
  return own;
}

/// f(std::integral_constant of the block size); a size that has no loops of its own is 1.
template <class F> void for_block(int block, F f) {
  if (block < least_edge || block > most_edge) f(std::integral_constant<int, 1>{});
  else with_edge(block, f);
}

/// Entries of row i of A: f(entry, how many of a block it begins, the row of P that it meets). A block of A meets rows
/// of P with the same columns.
template <int Block, class F> void each_meeting(row_view<double> a, index_t i, F f) {
  for (index_t k = a.begin(i), end = a.end(i); k < end;) {
    const bool block =
        Block > 1 && k + Block <= end && a.col[k] % Block == 0 && a.col[k + Block - 1] == a.col[k] + Block - 1;
    const int size = block ? Block : 1;
    f(k, size, a.col[k]);
    k += size;
  }
}

} // namespace

triple_product_plan::triple_product_plan(row_view<double> a, row_view<double> p, row_view<double> r,
                                         row_view<double> product, int block)
    : shape_(product.shape), block_(block), row_ptr_(copied(product.row_ptr)), col_(copied(product.col)) {
  for_block(block, [&](auto size) { find_places<size>(a, p, r); });
}

void triple_product_plan::piece::narrow_down(index_t longest) {
  if (longest > index_t(std::numeric_limits<std::uint8_t>::max()) + 1) return;
  narrow = host_array<std::uint8_t>(wide.size());
  std::ranges::transform(wide, narrow.begin(), [](std::uint16_t p) { return static_cast<std::uint8_t>(p); });
  wide = {};
}

template <int Block> void triple_product_plan::find_places(row_view<double> a, row_view<double> p, row_view<double> r) {
  using place = std::uint16_t;
  constexpr index_t most = index_t(std::numeric_limits<place>::max()) + 1;
  const auto pieces_of = [](index_t rows, auto weight) {
    const auto cuts = cut_by_weight(rows, entries_of_plan_piece, weight);
    std::vector<piece> pieces;
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) pieces.push_back({cuts[k], cuts[k + 1]});
    return pieces;
  };
  std::atomic<bool> fits = true;
  of_t_ = pieces_of(a.shape.rows, [&](index_t i) { return double(a.end(i) - a.begin(i)); });
  std::vector<row_batch<double>> rows_of_t(of_t_.size());
  pool<row_accumulator> rows;
  cpu::for_each_task(index_t(of_t_.size()), [&](index_t k) {
    piece& own = of_t_[k];
    auto row = rows.take([&] { return std::make_unique<row_accumulator>(p.shape.cols); });
    index_t addends = 0, longest = 0;
    for (index_t i = own.first; i < own.last; ++i)
      each_meeting<Block>(a, i, [&](index_t, int, std::int32_t j) { addends += p.end(j) - p.begin(j); });
    own.wide.resize(addends);
    place* to = own.wide.data();
    for (index_t i = own.first; i < own.last; ++i) {
      row->open();
      each_meeting<Block>(a, i, [&](index_t, int, std::int32_t j) {
        for (index_t l = p.begin(j); l < p.end(j); ++l) *to++ = static_cast<place>(row->add(p.col[l], 0));
      });
      longest = std::max(longest, row->size());
      rows_of_t[k].take(*row);
    }
    if (longest > most) fits = false;
    own.narrow_down(longest);
    rows.put(std::move(row));
  });
  auto t = stacked<double>({a.shape.rows, p.shape.cols}, std::move(rows_of_t));
  t_row_ptr_ = std::move(t.row_ptr);
  of_product_ = pieces_of(r.shape.rows / Block,
                          [&](index_t node) { return double(r.end(node * Block) - r.begin(node * Block)); });
  pool<host_array<std::int32_t>> tables;
  cpu::for_each_task(index_t(of_product_.size()), [&](index_t k) {
    piece& own = of_product_[k];
    auto table = tables.take([&] { return std::make_unique<host_array<std::int32_t>>(p.shape.cols); });
    const auto each_row = [&](index_t node, auto f) {
      for (index_t e = r.begin(node * Block); e < r.end(node * Block); ++e)
        f(t_row_ptr_[r.col[e]], t_row_ptr_[r.col[e] + 1]);
    };
    index_t addends = 0, longest = 0;
    for (index_t node = own.first; node < own.last; ++node)
      each_row(node, [&](index_t begin, index_t end) { addends += end - begin; });
    own.wide.resize(addends);
    place* to = own.wide.data();
    for (index_t node = own.first; node < own.last; ++node) {
      const index_t begin = row_ptr_[node * Block], count = row_ptr_[node * Block + 1] - begin;
      longest = std::max(longest, count);
      for (index_t e = 0; e < count; ++e) (*table)[col_[begin + e]] = static_cast<std::int32_t>(e);
      each_row(node, [&](index_t from, index_t end) {
        for (index_t l = from; l < end; ++l) *to++ = static_cast<place>((*table)[t.col[l]]);
      });
    }
    if (longest > most) fits = false;
    own.narrow_down(longest);
    tables.put(std::move(table));
  });
  fits_ = fits;
}

double triple_product_plan::stored_bytes() const {
  double bytes = double(t_row_ptr_.byte_count() + row_ptr_.byte_count() + col_.byte_count());
  for (const auto* pieces : {&of_t_, &of_product_})
    for (const piece& one : *pieces) bytes += double(one.wide.byte_count() + one.narrow.byte_count());
  return bytes;
}

template <int Block>
void triple_product_plan::multiply_blocks(row_view<double> r, row_view<double> a, row_view<double> p,
                                          view<double> product) const {
  host_array<double> t(t_row_ptr_.empty() ? 0 : t_row_ptr_[a.shape.rows]);
  const auto rows_of_t = [&](const piece& own, const auto* to) {
    for (index_t i = own.first; i < own.last; ++i) {
      double* const sum = t.data() + t_row_ptr_[i];
      std::fill_n(sum, t_row_ptr_[i + 1] - t_row_ptr_[i], 0.0);
      each_meeting<Block>(a, i, [&](index_t k, int size, std::int32_t j) {
        const index_t count = p.end(j) - p.begin(j);
        const double *const value = a.val.data + k, *const row = p.val.data + p.begin(j);
        if (Block == 1 || size == 1) {
          for (index_t l = 0; l < count; ++l) sum[to[l]] += value[0] * row[l];
        } else {
          for (index_t l = 0; l < count; ++l) {
            double s = sum[to[l]];
            for (int q = 0; q < Block; ++q) s += value[q] * row[q * count + l];
            sum[to[l]] = s;
          }
        }
        to += count;
      });
    }
  };
  const auto rows_of_product = [&](const piece& own, const auto* to) {
    for (index_t node = own.first; node < own.last; ++node) {
      const index_t i = node * Block, first = row_ptr_[i], count = row_ptr_[i + 1] - first;
      double* const sum = product.data + first;
      std::fill_n(sum, Block * count, 0.0);
      const index_t begin = r.begin(i), entries = r.end(i) - begin; // of each of the rows, in the same columns
      for (index_t k = begin; k < begin + entries; ++k) {
        const index_t from = t_row_ptr_[r.col[k]], length = t_row_ptr_[r.col[k] + 1] - from;
        double factor[Block];
        for (int q = 0; q < Block; ++q) factor[q] = r.val[k + q * entries];
        for (index_t l = 0; l < length; ++l) {
          const double v = t[from + l];
          double* const into = sum + to[l];
          for (int q = 0; q < Block; ++q) into[q * count] += factor[q] * v;
        }
        to += length;
      }
    }
  };
  const auto each = [](const std::vector<piece>& pieces, const auto& make) {
    cpu::for_each_task(std::ssize(pieces), [&](index_t number) {
      const piece& own = pieces[static_cast<std::size_t>(number)];
      own.read([&](const auto* places) { make(own, places); });
    });
  };
  each(of_t_, rows_of_t);
  each(of_product_, rows_of_product);
}

void triple_product_plan::multiply(row_view<double> r, row_view<double> a, row_view<double> p,
                                   view<double> product) const {
  for_block(block_, [&](auto size) { multiply_blocks<size>(r, a, p, product); });
}

} // namespace furrow
