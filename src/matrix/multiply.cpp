// SPDX-License-Identifier: BSD-3-Clause
#include "multiply.hpp"

#include "core/check.hpp"
#include "row_accumulator.hpp"

namespace furrow {
namespace {

/// Products of a piece: enough to pay for handing it out.
constexpr double piece_products = 1 << 18;
/// Entries of T that a piece of the triple product makes.
constexpr double piece_entries = 1 << 20;

template <class V> void add_products(row_accumulator& row, row_view<V> a, index_t i, row_view<V> b) {
  for (index_t k = a.begin(i); k < a.end(i); ++k) {
    const double factor = a.val[k];
    const index_t j = a.col[k];
    for (index_t l = b.begin(j), end = b.end(j); l < end; ++l) row.add(b.col[l], factor * double(b.val[l]));
  }
}

/// Products of row i of A with B.
template <class V> double products(row_view<V> a, index_t i, row_view<V> b) {
  double count = 1;
  for (index_t k = a.begin(i); k < a.end(i); ++k) count += double(b.end(a.col[k]) - b.begin(a.col[k]));
  return count;
}

/// Rows of A P that are there, each under the number of its turn.
class some_rows {
public:
  explicit some_rows(index_t rows, index_t cols) : place_(rows, -1), row_(cols) {}

  /// Makes the rows of A P that rows [first, last) of R name.
  template <class V> void make(row_view<V> r, index_t first, index_t last, row_view<V> a, row_view<V> p) {
    forget();
    for (index_t k = r.begin(first); k < r.begin(last); ++k) {
      const std::int32_t i = r.col[k];
      if (place_[i] >= 0) continue;
      place_[i] = static_cast<std::int32_t>(made_.size());
      made_.push_back(i);
      row_.open();
      add_products(row_, a, i, p);
      for (index_t l = 0; l < row_.size(); ++l) {
        col_.push_back(row_.col(l));
        val_.push_back(row_.sum(l));
      }
      end_.push_back(static_cast<index_t>(col_.size()));
    }
  }
  /// Row I of R (A P) from the rows that were made.
  template <class V> row_accumulator& combine(row_view<V> r, index_t coarse) {
    row_.open();
    for (index_t k = r.begin(coarse); k < r.end(coarse); ++k) {
      const double factor = r.val[k];
      const std::int32_t at = place_[r.col[k]];
      for (index_t l = end_[at], end = end_[at + 1]; l < end; ++l) row_.add(col_[l], factor * val_[l]);
    }
    row_.sort();
    return row_;
  }

private:
  void forget() {
    for (const std::int32_t i : made_) place_[i] = -1;
    made_.clear();
    col_.clear();
    val_.clear();
    end_.assign(1, 0);
  }

  host_array<std::int32_t> place_; ///< of a row of A P among those made, or -1
  row_accumulator row_;
  std::vector<std::int32_t> made_, col_;
  std::vector<double> val_;
  std::vector<index_t> end_;
};

} // namespace

template <class V> row_matrix<V> multiply(row_view<V> a, row_view<V> b) {
  require(a.shape.cols == b.shape.rows, "the factors of a product do not fit");
  const auto cuts = cut_by_weight(a.shape.rows, piece_products, [&](index_t i) { return products(a, i, b); });
  std::vector<row_batch<V>> pieces(cuts.size() - 1);
  pool<row_accumulator> rows;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto row = rows.take([&] { return std::make_unique<row_accumulator>(b.shape.cols); });
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) {
      row->open();
      add_products(*row, a, i, b);
      row->sort();
      pieces[k].take(*row);
    }
    rows.put(std::move(row));
  });
  return stacked<V>({a.shape.rows, b.shape.cols}, std::move(pieces));
}

template <class V> row_matrix<V> triple_product(row_view<V> r, row_view<V> a, row_view<V> p) {
  require(r.shape.cols == a.shape.rows && a.shape.cols == p.shape.rows, "the factors of a product do not fit");
  // A row of T has about as many entries as a third of its products; rows of R share most rows of T.
  const double rows_each = double(a.shape.rows) / double(std::max<index_t>(r.shape.rows, 1));
  const double row_of_t =
      double(a.nnz()) * double(p.nnz()) / (3 * std::max(1.0, double(a.shape.rows) * double(p.shape.rows)));
  const auto cuts = cut_by_weight(r.shape.rows, piece_entries, [&](index_t) { return rows_each * row_of_t + 1; });
  std::vector<row_batch<V>> pieces(cuts.size() - 1);
  pool<some_rows> tables;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto t = tables.take([&] { return std::make_unique<some_rows>(a.shape.rows, p.shape.cols); });
    t->make(r, cuts[k], cuts[k + 1], a, p);
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) pieces[k].take(t->combine(r, i));
    tables.put(std::move(t));
  });
  return stacked<V>({r.shape.rows, p.shape.cols}, std::move(pieces));
}

#define FURROW_PRODUCTS(V)                                                                                             \
  template row_matrix<V> multiply(row_view<V>, row_view<V>);                                                           \
  template row_matrix<V> triple_product(row_view<V>, row_view<V>, row_view<V>);
FURROW_PRODUCTS(double)
FURROW_PRODUCTS(float)
#undef FURROW_PRODUCTS

} // namespace furrow
