// SPDX-License-Identifier: BSD-3-Clause
#include "product_plan.hpp"

#include "row_accumulator.hpp"

namespace furrow {
namespace {

/// Work of a piece: enough to pay for handing it out.
constexpr double piece_entries = 1 << 14;

template <class T> host_array<T> copied(cview<T> v) {
  host_array<T> own(v.size);
  cpu::for_each_range(v.size, 1 << 15, [&](index_t first, index_t last) {
    std::copy(v.begin() + first, v.begin() + last, own.data() + first);
  });
  return own;
}

/// Where the columns of a row are among its entries; a thread has one.
class known_places {
public:
  explicit known_places(index_t cols) : place_(cols) {}
  void open(const std::int32_t* col, index_t count) {
    for (index_t k = 0; k < count; ++k) place_[col[k]] = static_cast<std::int32_t>(k);
  }
  std::int32_t operator[](std::int32_t col) const { return place_[col]; }

private:
  host_array<std::int32_t> place_; ///< of the columns of the row under way; anything elsewhere
};

/// make(places, i) for each i below n, pieces of which have about equal weights.
template <class Weight, class Make> void for_each_row(index_t n, index_t cols, double work, Weight weight, Make make) {
  const auto cuts = cut_by_weight(n, work_of_piece(work, piece_entries), weight);
  pool<known_places> places;
  cpu::for_each_task(static_cast<index_t>(cuts.size()) - 1, [&](index_t k) {
    auto own = places.take([&] { return std::make_unique<known_places>(cols); });
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) make(*own, i);
    places.put(std::move(own));
  });
}

/// Whether the entries from k on are the columns of a whole block.
template <int Block> bool is_block(row_view<double> a, index_t k, index_t end) {
  return k + Block <= end && a.col[k] % Block == 0 && a.col[k + Block - 1] == a.col[k] + Block - 1;
}

/// sum = row i of A times P, at these places. A block of A meets rows of P with the same columns.
template <int Block>
void add_row(const known_places& place, row_view<double> a, index_t i, row_view<double> p, double* sum) {
  for (index_t k = a.begin(i), end = a.end(i); k < end;) {
    const index_t first = p.begin(a.col[k]), count = p.end(a.col[k]) - first;
    const std::int32_t* const col = p.col.data + first;
    const double *const value = a.val.data + k, *const row = p.val.data + first;
    if (Block > 1 && is_block<Block>(a, k, end)) {
      for (index_t l = 0; l < count; ++l) {
        double& to = sum[place[col[l]]];
        double s = to;
        for (int q = 0; q < Block; ++q) s += value[q] * row[q * count + l];
        to = s;
      }
      k += Block;
    } else {
      for (index_t l = 0; l < count; ++l) sum[place[col[l]]] += value[0] * row[l];
      ++k;
    }
  }
}

} // namespace

triple_product_plan::triple_product_plan(row_view<double> a, row_view<double> p, row_view<double> product, int block)
    : shape_(product.shape), block_(block), row_ptr_(copied(product.row_ptr)), col_(copied(product.col)) {
  const auto cuts = cut_by_weight(a.shape.rows, work_of_piece(double(a.nnz()), piece_entries),
                                  [&](index_t i) { return double(a.end(i) - a.begin(i)); });
  std::vector<row_batch<double>> pieces(cuts.size() - 1);
  pool<row_accumulator> rows;
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    auto row = rows.take([&] { return std::make_unique<row_accumulator>(p.shape.cols); });
    for (index_t i = cuts[k]; i < cuts[k + 1]; ++i) {
      row->open();
      for (index_t e = a.begin(i); e < a.end(i); ++e) {
        const index_t first = p.begin(a.col[e]);
        row->add(
            0, p.end(a.col[e]) - first, [&](index_t l) { return p.col[first + l]; }, [](index_t) { return 0.0; });
      }
      pieces[k].take(*row);
    }
    rows.put(std::move(row));
  });
  auto t = stacked<double>({a.shape.rows, p.shape.cols}, std::move(pieces));
  t_row_ptr_ = std::move(t.row_ptr), t_col_ = std::move(t.col);
}

template <int Block>
void triple_product_plan::multiply_blocks(row_view<double> r, row_view<double> a, row_view<double> p,
                                          view<double> product) const {
  host_array<double> t(t_col_.size());
  const auto row_of_t = [&](known_places& place, index_t i) {
    const index_t first = t_row_ptr_[i], count = t_row_ptr_[i + 1] - first;
    place.open(t_col_.data() + first, count);
    std::fill_n(t.data() + first, count, 0.0);
    add_row<Block>(place, a, i, p, t.data() + first);
  };
  const auto rows_of_product = [&](known_places& place, index_t node) {
    const index_t i = node * Block, first = row_ptr_[i], count = row_ptr_[i + 1] - first;
    place.open(col_.data() + first, count);
    std::fill_n(product.data + first, Block * count, 0.0);
    const index_t begin = r.begin(i), entries = r.end(i) - begin; // of each of the rows, in the same columns
    for (index_t k = begin; k < begin + entries; ++k)
      for (index_t l = t_row_ptr_[r.col[k]]; l < t_row_ptr_[r.col[k] + 1]; ++l) {
        double* const to = product.data + first + place[t_col_[l]];
        for (int q = 0; q < Block; ++q) to[q * count] += r.val[k + q * entries] * t[l];
      }
  };
  for_each_row(
      a.shape.rows, p.shape.cols, double(a.nnz()), [&](index_t i) { return double(a.end(i) - a.begin(i)); }, row_of_t);
  for_each_row(
      r.shape.rows / Block, p.shape.cols, double(r.nnz()),
      [&](index_t i) { return double(r.end(i * Block) - r.begin(i * Block)); }, rows_of_product);
}

void triple_product_plan::multiply(row_view<double> r, row_view<double> a, row_view<double> p,
                                   view<double> product) const {
  switch (block_) {
  case 2:
    return multiply_blocks<2>(r, a, p, product);
  case 3:
    return multiply_blocks<3>(r, a, p, product);
  case 4:
    return multiply_blocks<4>(r, a, p, product);
  case 5:
    return multiply_blocks<5>(r, a, p, product);
  case 6:
    return multiply_blocks<6>(r, a, p, product);
  default:
    return multiply_blocks<1>(r, a, p, product);
  }
}

} // namespace furrow
