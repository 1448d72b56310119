// SPDX-License-Identifier: BSD-3-Clause
#include "multiply.hpp"

#include "core/check.hpp"
#include "row_accumulator.hpp"

namespace furrow {
namespace {

/// Products, entries of R and rows of T of a piece: enough to pay for handing it out.
constexpr double piece_products = 1 << 18, piece_entries = 1 << 14, piece_rows = 1 << 11;

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

/// T = A P, in the pieces in which the threads made it, rows not sorted.
class product_in_pieces {
public:
  template <class V>
  product_in_pieces(row_view<V> a, row_view<V> p)
      : rows_(static_cast<index_t>(work_of_piece(double(a.shape.rows), piece_rows))),
        pieces_(static_cast<std::size_t>((a.shape.rows + rows_ - 1) / rows_)), end_(a.shape.rows) {
    pool<row_accumulator> rows;
    cpu::for_each_task(static_cast<index_t>(pieces_.size()), [&](index_t k) {
      auto row = rows.take([&] { return std::make_unique<row_accumulator>(p.shape.cols); });
      piece& out = pieces_[k];
      const index_t first = k * rows_, last = std::min(first + rows_, a.shape.rows);
      const index_t expected = (a.begin(last) - a.begin(first)) * 5 / 4; // what a mesh in three dimensions has
      out.col.reserve(expected);
      out.val.reserve(expected);
      for (index_t i = first; i < last; ++i) {
        row->open();
        add_products(*row, a, i, p);
        std::copy_n(row->cols(), row->size(), out.col.more(row->size()));
        std::copy_n(row->sums(), row->size(), out.val.more(row->size()));
        end_[i] = out.col.size();
      }
      rows.put(std::move(row));
    });
  }
  /// Adds factor times row i.
  void add_to(row_accumulator& sum, double factor, index_t i) const {
    const piece& from = pieces_[i / rows_];
    const index_t begin = i % rows_ == 0 ? 0 : end_[i - 1];
    const std::int32_t* const col = from.col.data() + begin;
    const double* const val = from.val.data() + begin;
    sum.add(
        factor, end_[i] - begin, [col](index_t k) { return col[k]; }, [val](index_t k) { return val[k]; });
  }

private:
  struct piece {
    growing_list<std::int32_t> col;
    growing_list<double> val;
  };
  index_t rows_; ///< of a piece
  std::vector<piece> pieces_;
  host_array<index_t> end_; ///< of each row, in its piece
};

/// Rows of C cut by `cuts`, made one after the other: make(row, i) adds row i up. A piece is expected to have as many
/// entries as its rows of `like`.
template <class V, class Make>
row_matrix<V> made_by_rows(shape2 shape, const std::vector<index_t>& cuts, row_view<V> like, Make make) {
  std::vector<row_batch<V>> pieces(cuts.size() - 1);
  pool<row_accumulator> rows;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto row = rows.take([&] { return std::make_unique<row_accumulator>(shape.cols); });
    pieces[k].reserve(cuts[k + 1] - cuts[k], like.begin(cuts[k + 1]) - like.begin(cuts[k]));
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
  return made_by_rows<V>({a.shape.rows, b.shape.cols}, cuts, a,
                         [&](row_accumulator& row, index_t i) { add_products(row, a, i, b); });
}

template <class V> row_matrix<V> triple_product(row_view<V> r, row_view<V> a, row_view<V> p) {
  require(r.shape.cols == a.shape.rows && a.shape.cols == p.shape.rows, "the factors of a product do not fit");
  const product_in_pieces t(a, p);
  const auto cuts = cut_by_weight(r.shape.rows, work_of_piece(double(r.nnz()), piece_entries),
                                  [&](index_t i) { return double(r.end(i) - r.begin(i)); });
  return made_by_rows<V>({r.shape.rows, p.shape.cols}, cuts, r, [&](row_accumulator& row, index_t i) {
    for (index_t k = r.begin(i); k < r.end(i); ++k) t.add_to(row, double(r.val[k]), r.col[k]);
  });
}

#define FURROW_PRODUCTS(V)                                                                                             \
  template row_matrix<V> multiply(row_view<V>, row_view<V>);                                                           \
  template row_matrix<V> triple_product(row_view<V>, row_view<V>, row_view<V>);
FURROW_PRODUCTS(double)
FURROW_PRODUCTS(float)
#undef FURROW_PRODUCTS

} // namespace furrow
