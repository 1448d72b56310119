// SPDX-License-Identifier: BSD-3-Clause
#include "multiply.hpp"

#include "row_accumulator.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <thread>

namespace furrow {
namespace {

/// Products, entries of R and rows of T of a piece: enough to pay for handing it out.
constexpr double piece_products = 1 << 18, piece_entries = 1 << 14, piece_rows = 1 << 11;

/// make(k) for each piece; see `ask` of `triple_product`.
template <class F> void for_each_piece(index_t count, const std::function<void()>& ask, F make) {
  if (!ask) return cpu::for_each_task(count, make);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> over{false};
  std::exception_ptr why;
  cpu::for_each_task(count, [&](index_t k) {
    if (over) return;
    try {
      if (std::this_thread::get_id() == caller) ask();
      make(k);
    } catch (...) {
      if (!over.exchange(true)) why = std::current_exception();
    }
  });
  if (why) std::rethrow_exception(why);
}

template <class V> void add_products(row_accumulator& row, row_view<V> a, index_t i, row_view<V> b) {
  for (index_t k = a.begin(i); k < a.end(i); ++k) {
    const index_t first = b.begin(a.col[k]), count = b.end(a.col[k]) - first;
    const std::int32_t* const col = b.col.data + first;
    const V* const val = b.val.data + first;
    row.add(
        double(a.val[k]), count, [col](index_t l) { return col[l]; }, [val](index_t l) { return double(val[l]); });
  }
}

/// Products of row i of A with B.
template <class V> double products(row_view<V> a, index_t i, row_view<V> b) {
  double count = 1;
  for (index_t k = a.begin(i); k < a.end(i); ++k) count += double(b.end(a.col[k]) - b.begin(a.col[k]));
  return count;
}

/// T = A P, in the pieces in which the threads made it, rows not sorted. A row is one block of words, its number of
/// entries and its columns before its numbers: who asks for it waits for two or three lines of memory, not for five.
class product_in_pieces {
public:
  using word = std::uint64_t;

  template <class V>
  product_in_pieces(row_view<V> a, row_view<V> p, const std::function<void()>& ask) : begin_(a.shape.rows) {
    const double rows_of_piece = work_of_piece(double(a.shape.rows), piece_rows);
    bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows_of_piece))) - 1;
    const index_t at_once = index_t(1) << bits_;
    pieces_.resize(static_cast<std::size_t>((a.shape.rows + at_once - 1) / at_once));
    pool<row_accumulator> rows;
    for_each_piece(static_cast<index_t>(pieces_.size()), ask, [&](index_t k) {
      auto row = rows.take([&] { return std::make_unique<row_accumulator>(p.shape.cols); });
      const index_t first = k * at_once, last = std::min(first + at_once, a.shape.rows);
      pieces_[k].reserve((a.begin(last) - a.begin(first)) * 2 + last - first); // what a mesh in three dimensions has
      for (index_t i = first; i < last; ++i) {
        row->open();
        add_products(*row, a, i, p);
        begin_[i] = pieces_[k].size();
        put(*row, pieces_[k].more(words_before(row->size()) + row->size()));
      }
      rows.put(std::move(row));
    });
  }
  const word* row(index_t i) const { return pieces_[i >> bits_].data() + begin_[i]; }
  /// Where the place of row i is noted.
  const index_t* note(index_t i) const { return begin_.data() + i; }
  /// sum += factor times a row.
  static void add(row_accumulator& sum, double factor, const word* row) {
    const auto* const col = reinterpret_cast<const std::int32_t*>(row);
    const index_t count = col[0];
    const auto* const val = reinterpret_cast<const double*>(row + words_before(count));
    sum.add(
        factor, count, [col](index_t k) { return col[k + 1]; }, [val](index_t k) { return val[k]; });
  }

private:
  /// Words of the number of entries and of the columns.
  static index_t words_before(index_t entries) { return entries / 2 + 1; }
  static void put(const row_accumulator& row, word* to) {
    auto* const col = reinterpret_cast<std::int32_t*>(to);
    col[0] = static_cast<std::int32_t>(row.size());
    std::copy_n(row.cols(), row.size(), col + 1);
    std::copy_n(row.sums(), row.size(), reinterpret_cast<double*>(to + words_before(row.size())));
  }

  int bits_; ///< of the number of a row in its piece
  std::vector<growing_list<word>> pieces_;
  host_array<index_t> begin_; ///< of each row, in its piece
};

/// Rows of T in the order of the columns of R, asked for ahead of their use: they lie as far apart as the nodes of an
/// aggregate do, in memory that no cache of a core's own holds, and without this their latency was half of the product.
class rows_ahead {
public:
  using word = product_in_pieces::word;

  /// Of the entries [first, last) of R.
  rows_ahead(const product_in_pieces& t, cview<std::int32_t> cols, index_t first, index_t last)
      : t_(t), cols_(cols), last_(last) {
    for (index_t k = first; k < first + 2 * ahead; ++k) note(k);
    for (index_t k = first; k < first + ahead; ++k) ask(k);
  }
  /// The row of entry k; they come one after the other.
  const word* next(index_t k) {
    const word* const row = rows_[k % ahead];
    note(k + 2 * ahead);
    ask(k + ahead);
    return row;
  }

private:
  static constexpr index_t ahead = 32; ///< rows of T: 250 products

  void note(index_t k) const {
    if (k < last_) __builtin_prefetch(t_.note(cols_[k]));
  }
  void ask(index_t k) {
    if (k >= last_) return;
    const word* const row = rows_[k % ahead] = t_.row(cols_[k]);
    for (int line = 0; line < 3; ++line) __builtin_prefetch(row + 8 * line);
  }

  const product_in_pieces& t_;
  cview<std::int32_t> cols_;
  index_t last_;
  std::array<const word*, ahead> rows_{};
};

/// Rows of C cut by `cuts`, made one after the other: maker(k)(row, i) adds row i of piece k up. A piece is expected to
/// have as many entries as its rows of `like`.
template <class V, class Maker>
row_matrix<V> made_by_rows(shape2 shape, const std::vector<index_t>& cuts, row_view<V> like,
                           const std::function<void()>& ask, Maker maker) {
  std::vector<row_batch<V>> pieces(cuts.size() - 1);
  pool<row_accumulator> rows;
  for_each_piece(static_cast<index_t>(pieces.size()), ask, [&](index_t k) {
    auto row = rows.take([&] { return std::make_unique<row_accumulator>(shape.cols); });
    pieces[k].reserve(cuts[k + 1] - cuts[k], like.begin(cuts[k + 1]) - like.begin(cuts[k]));
    auto make = maker(k);
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) {
      row->open();
      make(*row, i);
      row->sort();
      pieces[k].take(*row);
    }
    rows.put(std::move(row));
  });
  return stacked<V>(shape, std::move(pieces));
}

} // namespace

template <class V> row_matrix<V> multiply(row_view<V> a, row_view<V> b) {
  require(a.shape.cols == b.shape.rows, "the factors of a product do not fit");
  const auto cuts = cut_by_weight(a.shape.rows, piece_products, [&](index_t i) { return products(a, i, b); });
  return made_by_rows<V>({a.shape.rows, b.shape.cols}, cuts, a, {},
                         [&](index_t) { return [&](row_accumulator& row, index_t i) { add_products(row, a, i, b); }; });
}

template <class V>
row_matrix<V> triple_product(row_view<V> r, row_view<V> a, row_view<V> p, const std::function<void()>& ask) {
  require(r.shape.cols == a.shape.rows && a.shape.cols == p.shape.rows, "the factors of a product do not fit");
  const product_in_pieces t(a, p, ask);
  const auto cuts = cut_by_weight(r.shape.rows, work_of_piece(double(r.nnz()), piece_entries),
                                  [&](index_t i) { return double(r.end(i) - r.begin(i)); });
  return made_by_rows<V>({r.shape.rows, p.shape.cols}, cuts, r, ask, [&](index_t piece) {
    return [&, ahead = rows_ahead(t, r.col, r.begin(cuts[piece]), r.begin(cuts[piece + 1]))](row_accumulator& row,
                                                                                             index_t i) mutable {
      for (index_t k = r.begin(i); k < r.end(i); ++k) product_in_pieces::add(row, double(r.val[k]), ahead.next(k));
    };
  });
}

#define FURROW_PRODUCTS(V)                                                                                             \
  template row_matrix<V> multiply(row_view<V>, row_view<V>);                                                           \
  template row_matrix<V> triple_product(row_view<V>, row_view<V>, row_view<V>, const std::function<void()>&);
FURROW_PRODUCTS(double)
FURROW_PRODUCTS(float)
#undef FURROW_PRODUCTS

} // namespace furrow
